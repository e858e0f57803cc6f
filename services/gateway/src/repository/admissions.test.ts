/**
 * Each of the three statements that admit an API key must accept it in the same states of the key
 * and its program.
 */
import { randomBytes } from 'node:crypto';
import { createDatabase, type Database } from '@laurel/postgres';
import { createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiKeyEnvironment } from '../domain/api-key.ts';
import { PROGRAM_STATUSES, type ProgramStatus } from '../domain/program.ts';
import { countAdmissions, countAdmissionsAndLockKeys, readAdmission } from './admissions.ts';

const held = new AsyncDisposableStack();
let database: Database;

beforeAll(async () => {
  const scratch = held.use(await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }));
  database = held.use(createDatabase({ url: scratch.url, maxConnections: 2, applicationName: 'admissions-test' }));
});
afterAll(() => held.disposeAsync());

type State = {
  readonly environment: ApiKeyEnvironment;
  readonly status: ProgramStatus;
  readonly isDeletionScheduled: boolean;
  readonly isRevoked: boolean;
};
const ENVIRONMENTS: readonly ApiKeyEnvironment[] = ['test', 'live'];
const STATES: readonly State[] = ENVIRONMENTS.flatMap((environment) =>
  PROGRAM_STATUSES.flatMap((status) =>
    [false, true].flatMap((isDeletionScheduled) =>
      [false, true].map((isRevoked) => ({ environment, status, isDeletionScheduled, isRevoked })),
    ),
  ),
);

async function issueKey({ environment, status, isDeletionScheduled, isRevoked }: State) {
  const [programId, apiKeyId, hash] = [newId(), newId(), randomBytes(32)];
  await database.query(
    { text: 'insert into programs (id, name, status, deletion_scheduled) values ($1, $2, $3, $4)' },
    [programId, 'Test', status, isDeletionScheduled],
  );
  const [row] = await database.query<{ window_id: string }>(
    {
      text: `
        insert into api_keys (id, program_id, environment, key_hash, prefix, last4, revoked_at)
        values ($1, $2, $3, $4, 'sk', 'abcd', case when $5::boolean then now() end) returning window_id`,
    },
    [apiKeyId, programId, environment, hash, isRevoked],
  );
  const keyHash = hash.toString('hex');
  const windowId = row?.window_id ?? '';
  return { keyHash, storedHash: keyHash, pepperVersion: 1, apiKeyId, programId, environment, windowId, wanted: 1 };
}

/** The rule of the contract, without SQL. */
function resolves(state: State, accepted: readonly ApiKeyEnvironment[]): boolean {
  if (state.isRevoked || state.isDeletionScheduled || !accepted.includes(state.environment)) return false;
  return state.status === 'approved' || (state.status === 'draft' && state.environment === 'test');
}

describe('admission statements', () => {
  test.each([[['test', 'live'] as const], [['test'] as const], [['live'] as const], [[] as const]])(
    'every admission statement resolves a key in the same states of key and program, where %j is accepted',
    async (accepted) => {
      const keys = await Promise.all(STATES.map(issueKey));
      const resolving = keys.flatMap(({ apiKeyId }, index) => {
        const state = STATES[index];
        return state !== undefined && resolves(state, accepted) ? [apiKeyId] : [];
      });
      const options = { acceptedEnvironments: accepted, windowMs: 60_000 };
      const idsOf = (rows: readonly { readonly apiKeyId: string }[]) => rows.map(({ apiKeyId }) => apiKeyId).toSorted();

      const counted = await countAdmissions(
        database,
        keys.map(({ keyHash, wanted }) => ({ keyHash, storedAs: [keyHash], wanted })),
        options,
      );
      expect(idsOf(counted)).toEqual(resolving.toSorted());

      const locking = { ...options, limit: 300, uses: [], completions: [], now: new Date() };
      const { rows } = await countAdmissionsAndLockKeys(database, keys, locking);
      expect(idsOf(rows)).toEqual(resolving.toSorted());

      const read = await Promise.all(keys.map(({ keyHash }) => readAdmission(database, [keyHash], accepted)));
      expect(idsOf(read.flatMap((row) => row ?? []))).toEqual(resolving.toSorted());
    },
  );
});
