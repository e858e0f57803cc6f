/** The delivery of this service's events to a consumer, through a real broker. */
import { connectEvents, startConsumer } from '@laurel/events';
import { AwardStatus } from '@laurel/proto/attempts';
import { ChallengeStatus } from '@laurel/proto/challenge';
import { Event } from '@laurel/proto/events';
import { createLogger } from '@laurel/service';
import { expectAccepted, natsUrl } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { created, PROGRAM, recorded, useHarness } from './challenge.fixture.ts';
import { challengeSuspended } from './events.ts';
import { findChallenge } from './repository/challenges.ts';

const h = useHarness({ natsUrl: natsUrl() });

const consumed: Event[] = [];
const opened = new AsyncDisposableStack();
beforeAll(async () => {
  const logger = createLogger({ service: 'challenge', level: 'silent' });
  const stream = opened.use(connectEvents({ url: natsUrl(), prefix: h.eventsPrefix, name: 'challenge-test', logger }));
  const take = async (events: readonly Event[]) => {
    consumed.push(...events);
  };
  opened.use(startConsumer({ stream, durable: 'test', consume: take, logger }));
  // The stream discards events until a consumer exists. After this loop, sweeps run only when a
  // test runs them.
  const challenge = await suspended();
  await vi.waitFor(async () => {
    await h.server.sweepOnce();
    expect(aboutOf(challenge.id)).toEqual(['challengeSuspended']);
  }, WAIT);
}, 20_000);
afterAll(() => opened[Symbol.asyncDispose]());

const WAIT = { timeout: 15_000, interval: 20 };

async function suspended() {
  const challenge = await h.open();
  expectAccepted(
    await h.challenge.updateChallengeStatus({ challengeId: challenge.id, status: ChallengeStatus.SUSPENDED }),
  );
  return challenge;
}

/** Returns the consumed events about the attempt or challenge. */
function aboutOf(id: string) {
  return consumed
    .filter(({ payload }) => Object.values(payload?.value ?? {}).includes(id))
    .map(({ payload }) => payload?.$case);
}

/**
 * Resolves once exactly these events about the attempt or challenge were consumed and have left the
 * outbox.
 */
async function untilConsumed(id: string, ...cases: readonly string[]): Promise<void> {
  await vi.waitFor(async () => {
    expect([aboutOf(id), await h.eventsOf(id)]).toEqual([cases, []]);
  }, WAIT);
}

it('the event of a losing outcome is published and then leaves the outbox', async () => {
  const { attempt } = await h.openAttempt();
  recorded(await h.report(attempt.id, 1));
  await untilConsumed(attempt.id, 'attemptSettled');
});

it('the events of a win and of its release are published and acknowledged', async () => {
  const challenge = await h.open();
  const player = { tenant: PROGRAM, playerRef: `player-${newId()}` };
  expectAccepted(await h.wallet.putSandboxPlayer({ player, fundsCents: 1_000n }));
  expectAccepted(await h.wallet.holdNextAward({ player }));
  const attempt = created(await h.create(challenge.id, player.playerRef));
  const { award } = recorded(await h.report(attempt.id, 100));
  expect(award?.status).toBe(AwardStatus.HELD);
  await untilConsumed(attempt.id, 'attemptSettled');
  expectAccepted(await h.challenge.releaseAward({ awardId: award?.id ?? '' }));
  await untilConsumed(attempt.id, 'attemptSettled', 'awardReleased');
});

it('the event of a refund is published and acknowledged', async () => {
  const { attempt } = await h.openAttempt();
  expectAccepted(await h.challenge.expireAttempt({ tenant: PROGRAM, attemptId: attempt.id }));
  await untilConsumed(attempt.id, 'attemptRefunded');
});

it('the event of a suspension is published and acknowledged', async () => {
  const challenge = await suspended();
  await untilConsumed(challenge.id, 'challengeSuspended');
});

it('the sweep publishes an event that was not published because of a crash', async () => {
  const challenge = await h.open();
  const found = await findChallenge(h.database, challenge.id);
  if (found === null) throw new Error('the challenge cannot be read');
  const event = challengeSuspended(found, h.clock());
  const insert = { text: "insert into outbox (event_id, payload, environment) values ($1, $2, 'test')" };
  await h.database.query(insert, [event.id, Buffer.from(Event.encode(event).finish())]);
  await vi.waitFor(async () => {
    await h.server.sweepOnce();
    expect(aboutOf(challenge.id)).toContain('challengeSuspended');
  }, WAIT);
});
