import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { killOrphanedNats, type NatsProcess, startNatsProcess } from '@laurel/events/nats-process';
import { obtainNats } from '@laurel/events/nats-server';
import { removeLeftovers } from './leftovers.ts';

/** The address of the nats-server of this test run; every process of the run inherits it. A test takes a prefix of its own there. */
export const NATS_URL_VARIABLE = 'LAUREL_TEST_NATS_URL';

/** Where a fetched nats-server is kept between runs. */
const KEPT_BELOW = fileURLToPath(new URL('../../../node_modules/.cache/laurel', import.meta.url));
const DIRECTORY_PREFIX = 'laurel-test-nats-';
const OBTAIN_LIMIT_MS = 180_000;

/** A server of its own, in a folder of its own that is gone with it: for the whole run, or for a test that kills, stops or wipes it. */
export async function startNats(): Promise<NatsProcess> {
  const file = await obtainNats(
    KEPT_BELOW,
    (line) => process.stderr.write(`${line}\n`),
    AbortSignal.timeout(OBTAIN_LIMIT_MS),
  );
  await removeLeftovers(DIRECTORY_PREFIX, killOrphanedNats);
  const directory = await mkdtemp(join(tmpdir(), `${DIRECTORY_PREFIX}${process.pid}-`));
  const server = await startNatsProcess({ file, directory });
  return {
    ...server,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The server of the test run. */
export function natsUrl(): string {
  const url = process.env[NATS_URL_VARIABLE];
  if (url === undefined) throw new Error(`${NATS_URL_VARIABLE} is not set: the test run has no NATS`);
  return url;
}
