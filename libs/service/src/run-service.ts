/**
 * The life of a process:
 *
 * - starting: checks the configuration (exit 1 with all validation issues), then calls `start`,
 *   whose failure is fatal.
 * - ready: logs `ready` with the release, which the metric `laurel_build_info` shows too.
 * - stopping: drains from the first SIGTERM or SIGINT on, for at most 10 s, then exits 0 (1 if that
 *   took longer).
 * - The same signal a second time exits immediately. A terminal's SIGINT and a launcher's SIGTERM
 *   often come together and mean one stop.
 * - An unhandled error in any state logs one fatal line and exits 1: the process can no longer
 *   trust its memory, only the databases.
 */
import { publishOldestWaits, setServiceLabel, startTracing } from '@laurel/telemetry';
import { type LogLevel, type TracingSettings, tracingOptionsOf } from './config.ts';
import { createLogger, type Logger } from './logger.ts';
import { publishVersion, VERSION } from './version.ts';

const DRAIN_LIMIT_MS = 10_000;

/** Runs a service until it is signalled to stop. Every `main.ts` is this one call. */
export async function runService<Config extends { readonly LOG_LEVEL: LogLevel } & TracingSettings>(options: {
  name: string;
  loadConfig: () => Config;
  start: (config: Config, logger: Logger) => Promise<AsyncDisposable & { readonly port?: number }>;
}): Promise<void> {
  const startedAt = performance.now();
  const config = options.loadConfig();
  const logger = createLogger({ service: options.name, level: config.LOG_LEVEL });
  setServiceLabel(options.name);
  publishVersion();
  publishOldestWaits();

  const crash = (error: unknown, message: string): never => {
    logger.fatal({ err: error }, message);
    process.exit(1);
  };
  process.on('uncaughtException', (error) => crash(error, 'uncaught exception'));
  process.on('unhandledRejection', (reason) => crash(reason, 'unhandled rejection'));

  // Keeps the event loop alive until a signal stops the process.
  setInterval(() => undefined, 60_000);
  const signal = firstSignal(logger);
  const onError = (error: string) => logger.warn({ error }, 'traces are incomplete');
  const tracing = await startTracing({ ...tracingOptionsOf(config, options.name), onError });
  const service = await options.start(config, logger).catch((error: unknown) => crash(error, 'could not start'));
  const tookMs = Math.round(performance.now() - startedAt);
  logger.info({ version: VERSION, port: service.port, tookMs }, 'ready');

  await signal;
  try {
    await service[Symbol.asyncDispose]();
    await tracing[Symbol.asyncDispose]();
  } catch (error) {
    crash(error, 'could not stop cleanly');
  }
  logger.info('stopped');
  process.exit(0);
}

/** Resolves at the first signal; from then on a timer makes sure that the process ends. */
function firstSignal(logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    const seen = new Set<NodeJS.Signals>();
    const onSignal = (signal: NodeJS.Signals) => {
      if (seen.has(signal)) {
        logger.warn({ signal }, 'second signal to stop, leaving at once');
        process.exit(1);
      }
      seen.add(signal);
      if (seen.size > 1) return;
      logger.info({ signal }, 'stopping');
      setTimeout(() => {
        logger.error({ limitMs: DRAIN_LIMIT_MS }, 'draining took too long, leaving');
        process.exit(1);
      }, DRAIN_LIMIT_MS).unref();
      resolve();
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}
