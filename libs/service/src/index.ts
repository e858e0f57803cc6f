/**
 * What every process has: configuration, logger, lifecycle, workers and the admin server; the life
 * of a service, from its start to its end; and what several services' workers do alike.
 */
export {
  address,
  ConfigError,
  checkChannels,
  databaseUrl,
  durationMs,
  exitIfInvalid,
  type LogLevel,
  loadConfig,
  natsUrl,
  parseConfig,
  port,
  positiveInt,
  secretKey,
  spanDays,
  spanHours,
  spanMinutes,
  spanSeconds,
} from './config.ts';
export { DELETE_INTERVAL_MS, deleteInBatches } from './delete-in-batches.ts';
export { createDispatchLoop, type DispatchLoop } from './dispatch-loop.ts';
export { type Foundation, startAdmin, startAudit, startFoundation, startWorkers } from './foundation.ts';
export { acceptedKeys, checkKeyVersions, keysOf, keyVersion, type VersionedKey } from './key-versions.ts';
export { standardOutput } from './log-output.ts';
export { createLogger, type Logger } from './logger.ts';
export { createReencryptSecrets, REENCRYPT_INTERVAL_MS, type SecretStore } from './reencrypt-secrets.ts';
export { type RunningService, type ServiceParts, startRpcService } from './rpc-service.ts';
export { runService } from './run-service.ts';
export { auditSettings, grpcServiceSettings, processSettings } from './settings.ts';
export { type SharedProcess, startSharedProcess } from './shared-process.ts';
export { publishVersion } from './version.ts';
export { type Clock, runEach, startWorker, type Worker } from './worker.ts';
