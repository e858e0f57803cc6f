/** Tests the version of a challenge's row, on which the optimistic write of attempts depends. */
import { MAX_METADATA_BYTES, MAX_PLAYER_REF_CHARACTERS, MAX_VOID_REASON_CHARACTERS } from '@laurel/attempts/domain';
import { createDatabase, type Database } from '@laurel/postgres';
import { constraintAccepts, createTestDatabase, isExactBound } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { MAX_NOTE_CHARACTERS } from '@laurel/values/limits';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Challenge } from '../domain/challenge.ts';
import { issuesOfNewChallenge } from '../domain/challenge-terms.ts';
import { ATTEMPT, LIVE_CHALLENGE, NOW } from '../domain/example.ts';
import { insertChallenge, loadChallenges, lockChallenge, setBar, updateChallengeStatus } from './challenges.ts';
import { insertOptimisticAttempts } from './optimistic-attempts.ts';

const held = new AsyncDisposableStack();
let database: Database;

beforeAll(async () => {
  const scratch = held.use(await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }));
  database = held.use(createDatabase({ url: scratch.url, maxConnections: 2, applicationName: 'challenges-test' }));
});
afterAll(() => held.disposeAsync());

/** Opens a challenge with a ramp. */
async function open(changes: Partial<Challenge> = {}): Promise<Challenge> {
  const tenant = { programId: newId(), environment: 'test' } as const;
  const challenge: Challenge = {
    ...LIVE_CHALLENGE,
    id: newId(),
    tenant,
    calibrationSource: 'partner_seeded',
    ...changes,
  };
  await insertChallenge(database, challenge);
  return challenge;
}

const WITHOUT_BAR = { status: 'calibrating', threshold: null, calibrationSource: 'observed' } as const;

async function versionOf({ id }: Challenge): Promise<bigint> {
  const read = (await loadChallenges(database, [id])).get(id);
  if (read === undefined) throw new Error('there is no such challenge');
  return read.version;
}

/** Whether an attempt that was decided on this version of the challenge is written. */
async function isWritten(challenge: Challenge, challengeVersion: bigint): Promise<boolean> {
  const attempt = { ...ATTEMPT, id: newOwnedId('challenge'), challengeId: challenge.id, accountId: newId() };
  const inserts = [{ attempt, challengeVersion, needsSlot: false, idempotencyUse: null }];
  return (await insertOptimisticAttempts(database, inserts, { now: NOW })).has(attempt.id);
}

const change = (what: string) => (challenge: Challenge) =>
  database.query({ text: `update challenges set ${what} where id = $1` }, [challenge.id]);

const UPDATES: Readonly<Record<string, (challenge: Challenge) => Promise<unknown>>> = {
  'its status changes': ({ id }) => updateChallengeStatus(database, id, 'suspended'),
  'its status stays': ({ id }) => updateChallengeStatus(database, id, 'live'),
  'its ramp is completed': change('ramp_completed_at = coalesce(ramp_completed_at, now())'),
  'nothing of it changes': change('threshold = threshold'),
  'an update sets the version back': change('version = 1'),
  'an update sets the version ahead': change('version = version + 100'),
};

describe('the version of a challenge', () => {
  it.each(Object.entries(UPDATES))(
    'an update of a challenge raises the version of its row by one: %s',
    async (_, update) => {
      const challenge = await open();
      expect(await versionOf(challenge)).toBe(1n);
      await update(challenge);
      expect(await versionOf(challenge)).toBe(2n);
    },
  );

  it('a lock of a challenge’s row does not change its version', async () => {
    const challenge = await open();
    await database.transaction((tx) => lockChallenge(tx, challenge.id));
    expect(await versionOf(challenge)).toBe(1n);
  });

  it('no attempt is written that was decided on an earlier version of its challenge', async () => {
    const updates = fc.array(fc.constantFrom(...Object.values(UPDATES)), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(updates, async (changes) => {
        const challenge = await open();
        const earlier: bigint[] = [];
        for (const update of changes) {
          earlier.push(await versionOf(challenge));
          await update(challenge);
        }
        for (const version of earlier) expect(await isWritten(challenge, version)).toBe(false);
        expect(await isWritten(challenge, await versionOf(challenge))).toBe(true);
      }),
      { numRuns: 15 },
    );
  });

  it('setting the bar of a challenge raises its version by one', async () => {
    const challenge = await open(WITHOUT_BAR);
    const bar = { challengeId: challenge.id, threshold: 100, source: 'partner_seeded' } as const;
    await setBar(database, bar);
    expect(await versionOf(challenge)).toBe(2n);
    expect((await loadChallenges(database, [challenge.id])).get(challenge.id)?.challenge).toMatchObject({
      status: 'live',
      threshold: 100,
      calibrationSource: 'partner_seeded',
    });
    await expect(setBar(database, bar)).rejects.toThrow('is calibrating');
    for (const what of ['threshold = 101', 'threshold = null', `calibration_source = 'listened'`]) {
      await expect(change(what)(challenge)).rejects.toMatchObject({ constraint: 'challenges_bar_is_frozen' });
    }
    expect(await versionOf(challenge)).toBe(2n);
  });

  it.each(['suspended', 'closed'] as const)('a calibrating challenge that was %s takes no bar', async (status) => {
    const challenge = await open(WITHOUT_BAR);
    await updateChallengeStatus(database, challenge.id, status);
    const bar = { challengeId: challenge.id, threshold: 100, source: 'observed' } as const;
    await expect(setBar(database, bar)).rejects.toThrow('is calibrating');
    expect((await loadChallenges(database, [challenge.id])).get(challenge.id)?.challenge.threshold).toBeNull();
  });

  it('the terms of a challenge never change', async () => {
    const challenge = await open();
    await expect(change('fee_cents = 1')(challenge)).rejects.toMatchObject({
      constraint: 'challenges_terms_are_frozen',
    });
  });
});

/** Returns text of this many characters, each of two UTF-16 units. */
const textOf = (characters: number) => '🎯'.repeat(characters);

it.each([
  ['name', 'challenges_name_length', 255],
  ['description', 'challenges_description_length', 2_000],
  ['metricName', 'challenges_metric_name_length', 255],
  ['metricUnit', 'challenges_metric_unit_length', 255],
] as const)('the database accepts a %s exactly when the rule does', async (field, constraint, most) => {
  for (const characters of [most, most + 1]) {
    const terms = { ...LIVE_CHALLENGE.terms, [field]: textOf(characters) };
    const isTaken = characters === most;
    const issues = issuesOfNewChallenge({
      tenant: LIVE_CHALLENGE.tenant,
      terms,
      status: 'calibrating',
      threshold: null,
      parent: null,
    });
    expect(issues).toHaveLength(isTaken ? 0 : 1);
    const opened = open({ terms });
    if (isTaken) expect((await opened).terms).toEqual(terms);
    else await expect(opened).rejects.toMatchObject({ constraint });
  }
});

it.each([
  ['attempts_metadata_length', MAX_METADATA_BYTES, (length: number) => ({ metadata: 'x'.repeat(length) })],
  ['attempts_player_ref_length', MAX_PLAYER_REF_CHARACTERS, (length: number) => ({ player_ref: textOf(length) })],
  [
    'attempts_closed_reason_length',
    MAX_VOID_REASON_CHARACTERS,
    (length: number) => ({ closed_reason: textOf(length) }),
  ],
  ['status_changes_note_length', MAX_NOTE_CHARACTERS, (length: number) => ({ note: textOf(length) })],
])('the constraint %s has the same bound as the rule', async (constraint, most, valuesOf) => {
  expect(await isExactBound(database, { constraint, most }, valuesOf)).toBe(true);
});

it('the metadata of an attempt is bounded in bytes', async () => {
  const metadata = 'é'.repeat(MAX_METADATA_BYTES / 2 + 1);
  expect(await constraintAccepts(database, 'attempts_metadata_length', { metadata })).toBe(false);
});
