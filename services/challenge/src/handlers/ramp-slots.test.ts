/**
 * While a bar is unconfirmed, at most 100 attempts are open or wait for the monitor, even with
 * concurrent creations.
 */

import { ChallengeStatus, type ChallengeTerms } from '@laurel/proto/challenge';
import { expectAccepted } from '@laurel/testing';
import { leastIdAt, newId, newOwnedId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { created, type Harness, HOUR_MS, PROGRAM, useHarness, useReplica, verdictOf } from '../challenge.fixture.ts';
import { CEILINGS } from '../domain/example.ts';
import { lossBoundOf } from '../domain/loss-bound.ts';
import { MAX_UNCONFIRMED_ATTEMPTS } from '../domain/ramp.ts';
import { findChallenge } from '../repository/challenges.ts';
import { freeUnneededSlots } from '../repository/ramp-slots.ts';
import { usePlay } from '../workers/monitor.fixture.ts';

const h = useHarness();
const other = useReplica(h);
const { settle } = usePlay(h);

/** Opens a live challenge with a bar of 4.25, which follows from a partner's percentiles 1 to 5. */
async function seeded(terms: Partial<ChallengeTerms> = {}): Promise<string> {
  const { id } = await h.open({ dailyAttemptCap: 100_000, ...terms }, { status: ChallengeStatus.CALIBRATING });
  const distribution = { p5: 1, p25: 2, p50: 3, p75: 4, p95: 5 };
  const seeding = { operationId: newId(), tenant: PROGRAM, challengeId: id, distribution, sampleSize: 500n };
  expectAccepted(await h.challenge.seedChallenge({ ...seeding, keyUse: undefined }));
  return id;
}

const newPlayers = (count: number) => Promise.all(Array.from({ length: count }, () => h.player()));

/**
 * Creates `count` attempts at once, at both replicas, each for a different player. Returns the ids
 * of the attempts that were created.
 */
async function open(challengeId: string, count: number): Promise<readonly string[]> {
  return (await openFor(challengeId, await newPlayers(count))).attempts;
}

/** Creates attempts like `open`, for these players; `refused` are the players who were refused. */
async function openFor<Player extends { readonly ref: string }>(challengeId: string, players: readonly Player[]) {
  const attempts: string[] = [];
  const refused: Player[] = [];
  await Promise.all(
    players.map(async (player, index) => {
      const client: Harness['challenge'] = index % 2 === 0 ? h.challenge : other.challenge;
      const attemptId = newOwnedId('challenge');
      const creation = { attemptId, tenant: PROGRAM, contestId: challengeId, playerRef: player.ref };
      const creations = [{ ...creation, metadataJson: '{}', requestId: '', keyUse: undefined }];
      const result = expectAccepted(await client.createAttempts({ creations })).results[0]?.result;
      if (result?.$case === 'attempt') attempts.push(attemptId);
      else refused.push(player);
      expect(['attempt', 'challenge_not_available']).toContain(verdictOf(result));
    }),
  );
  return { attempts, refused };
}

async function slotsOf(challengeId: string): Promise<number> {
  return (await findChallenge(h.database, challengeId))?.unconfirmedAttempts ?? Number.NaN;
}

/** The attempts that hold slots of the challenge, whether or not they need them. */
async function holdersOf(challengeId: string): Promise<string[]> {
  const text = 'select attempt_id from ramp_slots where challenge_id = $1';
  return (await h.database.query<{ attempt_id: string }>({ text }, [challengeId])).map((row) => row.attempt_id);
}

async function isListed(challengeId: string): Promise<boolean> {
  const { ref } = await h.player();
  const { challenges } = expectAccepted(
    await other.challenge.listChallenges({ tenant: PROGRAM, playerRef: ref, all: false }),
  );
  return challenges.some(({ id }) => id === challengeId);
}

describe('the attempts of an unconfirmed bar', () => {
  it('exactly 100 of 250 concurrent creations on an unconfirmed bar are accepted', async () => {
    const id = await seeded();
    const attempts = await open(id, 250);
    expect(attempts).toHaveLength(MAX_UNCONFIRMED_ATTEMPTS);
    expect(await slotsOf(id)).toBe(100);
    expect(await isListed(id)).toBe(false);

    // A void ends one attempt, which frees its slot for another attempt.
    expectAccepted(await h.challenge.voidAttempt({ attemptId: attempts[0] ?? '', reason: 'a test' }));
    expect(await isListed(id)).toBe(true);
    expect(await open(id, 10)).toHaveLength(1);

    // Settled attempts hold their slots until the monitor has counted them.
    await h.database.transaction(async (tx) => {
      // No monitor counts for a challenge while another transaction holds its row of
      // drift_monitors.
      await tx.query({ text: 'select from drift_monitors where challenge_id = $1 for no key update' }, [id]);
      await settle(attempts.slice(1, 41), []);
      expect(await open(id, 3)).toEqual([]);
    });
    await h.server.sweepOnce();
    expect(await slotsOf(id)).toBe(60);
    expect(await open(id, 60)).toHaveLength(40);

    // All open attempts end after an hour.
    h.clock.advance(HOUR_MS);
    await h.server.sweepOnce();
    expect(await slotsOf(id)).toBe(0);
    expect(await isListed(id)).toBe(true);
  });

  it('the limit of open attempts applies to every unconfirmed bar, whatever the prize', async () => {
    expect(await open(await seeded({ prizeCents: 500n }), 130)).toHaveLength(100);
    expect(await open((await h.open()).id, 130)).toHaveLength(130);
  });

  it('the number of open attempts has no limit once 100 counted attempts have confirmed the bar', async () => {
    const id = await seeded();
    const attempts = await open(id, 100);
    await settle(
      attempts,
      attempts.map((_, index) => index % 5 === 0),
    );
    await h.server.sweepOnce();
    expect(await slotsOf(id)).toBeNaN();
    expect(await open(id, 120)).toHaveLength(120);
  });

  it('a pending reservation holds a slot until its fee gets a tombstone', async () => {
    const id = await seeded();
    const [one, two] = [await h.player(), await h.player()];
    // The first attempts make the service cache which accounts the refs name.
    for (const { ref } of [one, two]) created(await h.create(id, ref));
    const [resumed, abandoned] = [newOwnedId('challenge'), newOwnedId('challenge')];
    await h.stopWallet();
    expect(verdictOf(await h.create(id, one.ref, resumed))).toBe('failure');
    expect(verdictOf(await h.create(id, two.ref, abandoned))).toBe('failure');
    expect(await slotsOf(id)).toBe(4);
    await h.startWallet();
    created(await h.create(id, one.ref, resumed));
    expect(await slotsOf(id)).toBe(4);
    h.clock.advance(60_000);
    await h.server.sweepOnce();
    expect(await slotsOf(id)).toBe(3);
    created(await h.create(id, two.ref, abandoned));
    expect(await slotsOf(id)).toBe(4);
  });

  it('the database refuses a 101st slot and a slot that another attempt holds', async () => {
    const id = await seeded();
    const [attempt = ''] = await open(id, 100);
    const insert = 'insert into ramp_slots (challenge_id, slot, attempt_id) values ($1, $2, $3)';
    await expect(h.database.query({ text: insert }, [id, 101, newId()])).rejects.toThrow('ramp_slots_are_a_hundred');
    await expect(h.database.query({ text: insert }, [id, 1, newId()])).rejects.toThrow('ramp_slots_pkey');
    await expect(h.database.query({ text: insert }, [id, null, attempt])).rejects.toThrow('null value');
  });

  it.each([ChallengeStatus.LIVE, ChallengeStatus.SUSPENDED, ChallengeStatus.CLOSED])(
    'the sweep frees the slots of ended attempts, and of no other, in a challenge of status %i',
    async (status) => {
      const id = await seeded();
      const [voided = '', settled = '', expired = ''] = await open(id, 3);
      const poor = await h.player(undefined, 0n);
      const refused = newOwnedId('challenge');
      expect(verdictOf(await h.create(id, poor.ref, refused))).toBe('insufficient_funds');
      expectAccepted(await h.challenge.voidAttempt({ attemptId: voided, reason: 'a test' }));
      if (status !== ChallengeStatus.LIVE)
        expectAccepted(await h.challenge.updateChallengeStatus({ challengeId: id, status, note: undefined }));
      await settle([settled], []);
      expect((await holdersOf(id)).sort()).toEqual([voided, settled, expired, refused].sort());
      await h.server.sweepOnce();
      expect(await holdersOf(id)).toContain(expired);

      h.clock.advance(HOUR_MS);
      await h.server.sweepOnce();
      h.clock.advance(HOUR_MS);
      const young = status === ChallengeStatus.LIVE ? await open(id, 2) : [];
      await h.server.sweepOnce();
      expect((await holdersOf(id)).sort()).toEqual([...young].sort());
    },
  );

  it('the sweep leaves the slot of an abandoned attempt that starts again', async () => {
    const id = await seeded();
    const [one, two] = [await h.player(), await h.player()];
    // The first attempts make the service cache which accounts the refs name.
    for (const { ref } of [one, two]) created(await h.create(id, ref));
    // The worker frees no slot of an attempt as young as these.
    const soon = new Date(h.clock().getTime() + HOUR_MS);
    const [starting, abandoned] = [newOwnedId('challenge', soon), newOwnedId('challenge', soon)];
    await h.stopWallet();
    expect(verdictOf(await h.create(id, one.ref, starting))).toBe('failure');
    expect(verdictOf(await h.create(id, two.ref, abandoned))).toBe('failure');
    await h.startWallet();
    h.clock.advance(60_000);
    await h.server.sweepOnce();
    expect(await holdersOf(id)).toEqual(expect.arrayContaining([starting, abandoned]));

    const free = () => freeUnneededSlots(h.database, leastIdAt(new Date(soon.getTime() + HOUR_MS)), 1_000);
    await h.database.transaction(async (tx) => {
      // The lock that the start of an attempt holds until its commit.
      await tx.query({ text: 'select from attempts where id = $1 for no key update' }, [starting]);
      await free();
      expect(await holdersOf(id)).toContain(starting);
      expect(await holdersOf(id)).not.toContain(abandoned);
    });
    created(await h.create(id, one.ref, starting));
    await free();
    expect(await holdersOf(id)).toContain(starting);
  });

  it('the audit finds an open attempt of an unconfirmed bar that holds no slot', async () => {
    const id = await seeded();
    const [attempt] = await open(id, 1);
    const [row] = await h.database.query<{ slot: number }>(
      { text: 'delete from ramp_slots where attempt_id = $1 returning slot' },
      [attempt],
    );
    expect(await h.violations()).toEqual([`unconfirmed_attempt_has_its_slot: 1 (${attempt})`]);
    const values = [id, row?.slot, attempt];
    await h.database.query(
      { text: 'insert into ramp_slots (challenge_id, slot, attempt_id) values ($1, $2, $3)' },
      values,
    );
  });
});

describe('an attack with percentiles that make a bar too easy', () => {
  const TERMS = { integrityTier: 3, prizeCents: 250_000n, feeCents: 500n, targetPassRate: 0.2 };
  const BOUND = 149n * 50_000n;

  /**
   * All accomplices open attempts at once and report wins at once. Refused accomplices try again,
   * while the monitor counts.
   */
  async function attack(challengeId: string, accomplices: number): Promise<void> {
    let waiting: readonly { readonly ref: string }[] = await newPlayers(accomplices);
    while (waiting.length > 0) {
      const { attempts, refused } = await openFor(challengeId, waiting);
      if (attempts.length === 0) return;
      await settle(
        attempts,
        attempts.map(() => true),
      );
      waiting = refused;
    }
  }

  it.each([
    [1, 250],
    [10, 25],
  ])(
    'each of %i challenges pays at most its bound against %i accomplices',
    async (challenges, accomplices) => {
      const ids = await Promise.all(Array.from({ length: challenges }, () => seeded(TERMS)));
      await Promise.all(ids.map((id) => attack(id, accomplices)));
      await h.server.sweepOnce();
      for (const id of ids) {
        const challenge = await findChallenge(h.database, id);
        if (challenge === null) throw new Error('there is no such challenge');
        expect(lossBoundOf(challenge, CEILINGS)).toBe(BOUND);
        expect((await paidOn(id)) <= BOUND).toBe(true);
      }
    },
    120_000,
  );
});

async function paidOn(challengeId: string): Promise<bigint> {
  const [row] = await h.database.query<{ paid: bigint }>(
    {
      text: `select coalesce(sum(amount_cents), 0)::bigint as paid from awards where challenge_id = $1 and status = 'paid'`,
    },
    [challengeId],
  );
  return row?.paid ?? 0n;
}
