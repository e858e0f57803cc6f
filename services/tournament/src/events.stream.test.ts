/** The delivery of this service's events to a consumer, through a real broker. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectEvents, startConsumer } from '@laurel/events';
import { type Event, RefundReason } from '@laurel/proto/events';
import { createLogger } from '@laurel/service';
import { expectAccepted, natsUrl } from '@laurel/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { awardIdOfRank } from './domain/purse.ts';
import { eventsIn, inOrder, isOfRound, refunded, roundCancelled, roundSettled, settled } from './outbox.fixture.ts';
import { created, PROGRAM, recorded, useHarness, verdictOf } from './tournament.fixture.ts';

// Runs before any import: the failpoints library looks for its folder when it is loaded.
const failpoints = vi.hoisted(() => {
  const { mkdtempSync } = process.getBuiltinModule('node:fs');
  const folder = mkdtempSync(`${process.getBuiltinModule('node:os').tmpdir()}/laurel-failpoints-`);
  process.env.FAILPOINTS_DIR = folder;
  return folder;
});
afterAll(() => rmSync(failpoints, { recursive: true }));

const h = useHarness({ natsUrl: natsUrl() });

const WAIT = { timeout: 15_000, interval: 20 };

const consumed: Event[] = [];
const opened = new AsyncDisposableStack();
beforeAll(async () => {
  const logger = createLogger({ service: 'tournament', level: 'silent' });
  const stream = opened.use(connectEvents({ url: natsUrl(), prefix: h.eventsPrefix, name: 'tournament-test', logger }));
  const take = async (events: readonly Event[]) => {
    consumed.push(...events);
  };
  opened.use(startConsumer({ stream, durable: 'test', consume: take, logger }));
  // The stream keeps nothing until it has a consumer. From here on, sweeps run only when a test
  // runs them.
  const round = await closed();
  await vi.waitFor(async () => {
    await h.server.sweepOnce();
    expect(consumedOf(round.id)).toHaveLength(1);
  }, WAIT);
}, 20_000);
afterAll(() => opened[Symbol.asyncDispose]());

/** A round without entries, which ends cancelled. */
async function closed() {
  const round = await h.openRound();
  expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId: round.id }));
  return round;
}

function consumedOf(roundId: string): readonly Event[] {
  return inOrder(consumed.filter((event) => isOfRound(event, roundId)));
}

async function waitingOf(roundId: string): Promise<readonly Event[]> {
  return (await eventsIn(h)).filter((event) => isOfRound(event, roundId));
}

/** Resolves once exactly these events were consumed and have left the outbox. */
async function untilConsumed(roundId: string, events: readonly Event[]): Promise<void> {
  await vi.waitFor(async () => {
    expect(consumedOf(roundId)).toEqual(inOrder(events));
    expect(await waitingOf(roundId)).toEqual([]);
  }, WAIT);
}

it('every event of a round is published and then leaves the outbox', async () => {
  const { round, player, attempt } = await h.openAttempt();
  const open = created(await h.create(round.id, player.ref));
  recorded(await h.report(attempt.id, 1));
  const outcome = settled(round.id, attempt, 1, h.clock());
  await untilConsumed(round.id, [outcome]);

  expectAccepted(await h.wallet.holdNextAward({ player: { tenant: PROGRAM, playerRef: player.ref } }));
  expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId: round.id }));
  const fee = refunded(round.id, open, RefundReason.ROUND_CLOSED, h.clock());
  const end = roundSettled(round, 1n, 10_000n, h.clock());
  await untilConsumed(round.id, [outcome, fee, end]);

  expectAccepted(await h.tournament.releaseAward({ awardId: awardIdOfRank(round.id, 1) }));
  await vi.waitFor(() => {
    expect(consumedOf(round.id).map(({ payload }) => payload?.$case)).toContain('awardReleased');
  }, WAIT);
});

it('the event of a cancelled round is published and acknowledged', async () => {
  const round = await closed();
  await untilConsumed(round.id, [roundCancelled(round, h.clock())]);
});

it('an event that a crash left unpublished is published by the sweep', async () => {
  const { round, attempt } = await h.openAttempt();
  writeFileSync(join(failpoints, 'tournament.outcome.after-commit'), 'throw');
  expect(verdictOf(await h.report(attempt.id, 3))).toBe('failure');
  expect(await waitingOf(round.id)).toEqual([settled(round.id, attempt, 3, h.clock())]);
  await vi.waitFor(async () => {
    await h.server.sweepOnce();
    expect(consumedOf(round.id)).toContainEqual(settled(round.id, attempt, 3, h.clock()));
  }, WAIT);
});
