/** A gateway in the process of its tests. */
import type { Queryable } from '@laurel/postgres';
import { type Clock, createLogger, type Logger, parseConfig } from '@laurel/service';
import { gatewayConfigSchema } from './config.ts';
import { fetchDescribed } from './described-answer.fixture.ts';
import { startGateway } from './server.ts';

/** Nothing listens at this address: a test needs no service except those that it starts. */
export const UNREACHABLE = '127.0.0.1:1';
export const OPERATOR_TOKEN = 'operator-token-of-the-gateways-tests';

/**
 * Starts a gateway on any free port. `settings` gives the database's URL, and all that differs from
 * a gateway that reaches no service.
 */
export async function startTestGateway(
  settings: Readonly<Record<string, string>>,
  {
    logger = createLogger({ service: 'gateway', level: 'silent' }),
    clock,
  }: { readonly logger?: Logger; readonly clock?: Clock } = {},
): ReturnType<typeof startGateway> {
  const config = parseConfig(gatewayConfigSchema, {
    LOG_LEVEL: 'silent',
    HTTP_PORT: '0',
    WALLET_ADDRESS: UNREACHABLE,
    CHALLENGE_ADDRESS: UNREACHABLE,
    TOURNAMENT_ADDRESS: UNREACHABLE,
    WEBHOOK_ADDRESS: UNREACHABLE,
    INTEGRATION_ADDRESS: UNREACHABLE,
    OPERATOR_TOKEN,
    KEY_PEPPER: Buffer.alloc(32, 7).toString('base64'),
    ...settings,
  });
  return startGateway(config, logger, clock);
}

/**
 * Runs a test whose requests have to count in one minute of the database. A run that fails after
 * its minute has ended is repeated.
 */
export async function inOneMinute(database: Queryable, run: () => Promise<void>): Promise<void> {
  for (;;) {
    const minute = await minuteOf(database);
    try {
      return await run();
    } catch (error) {
      if ((await minuteOf(database)) === minute) throw error;
    }
  }
}

async function minuteOf(database: Queryable): Promise<string> {
  const text = `select date_trunc('minute', statement_timestamp())::text as minute`;
  const [row] = await database.query<{ minute: string }>({ text });
  return row?.minute ?? '';
}

/** Calls `/api/operator` of the gateway at this port. */
export const operatorOf =
  (port: number, token = OPERATOR_TOKEN) =>
  (method: string, path: string, body?: unknown) => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return fetchDescribed(port, `/api/operator${path}`, { method, headers, ...(text !== undefined && { body: text }) });
  };
