/** Which endpoints an event is delivered to. */

import { Environment } from '@laurel/proto/common';
import { type Event, Owner, PayoutStatus, RefundReason } from '@laurel/proto/events';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../domain/endpoint.ts';
import { deleteEndpoint, updateEndpoint } from '../repository/endpoints.ts';
import { insertPrograms } from '../repository/programs.ts';
import { type RegisteredEndpoint, suspended, useDispatchHarness } from '../workers/deliver.fixture.ts';

const h = useDispatchHarness();

const countOf = async ({ id }: Pick<Endpoint, 'id'>) => (await h.deliveries(id)).length;
const consumedIds = async () =>
  (await h.database.query<{ id: string }>({ text: 'select id from consumed_events' })).map(({ id }) => id);

const endpointWith = (settings: Partial<Endpoint> = {}) => h.endpoint(h.receiver.url().url, settings);

async function consume(...events: readonly Event[]): Promise<void> {
  await h.consume(events);
  await h.dispatcher.whenIdle();
}

describe('endpoints that an event is delivered to', () => {
  const live = ({ tenant }: RegisteredEndpoint) => ({ programId: tenant.programId, environment: Environment.LIVE });

  it.each<[string, Partial<Endpoint>, (endpoint: RegisteredEndpoint) => Partial<Event>, number]>([
    ['that subscribes to every type', {}, () => ({}), 1],
    ['that subscribes to its type among others', { events: ['award.released', 'challenge.suspended'] }, () => ({}), 1],
    ['unless it subscribes to other types', { events: ['award.released'] }, () => ({}), 0],
    ['unless it subscribes to tests only', { events: ['webhook.test'] }, () => ({}), 0],
    ['of its environment', { environment: 'test' }, () => ({}), 1],
    ['of both environments', {}, (it) => ({ tenant: live(it) }), 1],
    ['unless it takes live only and the event is of test', { environment: 'test' }, (it) => ({ tenant: live(it) }), 0],
    ['unless it takes test only and the event is live', { environment: 'live' }, () => ({}), 0],
    ['unless it is off', { isActive: false }, () => ({}), 0],
    [
      'unless the program is another developer’s',
      {},
      () => ({ tenant: { programId: newId(), environment: Environment.TEST } }),
      0,
    ],
  ])('an event goes to an endpoint %s', async (_, settings, change, count) => {
    const endpoint = await endpointWith(settings);
    const event = suspended(endpoint, h.clock(), change(endpoint));
    await consume(event);
    expect(await countOf(endpoint)).toBe(count);
    expect(await consumedIds()).toContain(event.id);
  });

  it('an event is delivered to endpoints that name its program or no program', async () => {
    const ofAll = await endpointWith();
    const { developerId } = ofAll;
    const ofFirst = await endpointWith({ developerId, programId: ofAll.tenant.programId });
    const types = ['round.settled', 'challenge.suspended'] as const;
    const ofFirstInTest = await endpointWith({ ...ofFirst, id: newId(), environment: 'test', events: types });
    const ofFirstInLive = await endpointWith({ ...ofFirst, id: newId(), environment: 'live' });
    const second = newId();
    await insertPrograms(h.database, developerId, [second]);
    const ofSecond = await endpointWith({ developerId, programId: second });
    const all = [ofAll, ofFirst, ofFirstInTest, ofFirstInLive, ofSecond];
    await consume(suspended(ofAll, h.clock()));
    expect(await Promise.all(all.map(countOf))).toEqual([1, 1, 1, 0, 0]);
    await consume(suspended(ofAll, h.clock(), { tenant: { programId: second, environment: Environment.TEST } }));
    expect(await Promise.all(all.map(countOf))).toEqual([2, 1, 1, 0, 1]);
  });

  it('an event is delivered only to endpoints that existed when it happened', async () => {
    const before = new Date(h.clock().getTime() - 1);
    const endpoint = await endpointWith();
    await consume(suspended(endpoint, before));
    expect(await countOf(endpoint)).toBe(0);
    await consume(suspended(endpoint, h.clock()));
    expect(await countOf(endpoint)).toBe(1);
  });

  it('a redelivered event is not delivered to an endpoint that subscribed after the first delivery', async () => {
    const endpoint = await endpointWith({ events: ['attempt.refunded'] });
    const earlier = suspended(endpoint, h.clock());
    await consume(earlier);
    await updateEndpoint(h.database, { ...endpoint, events: ['challenge.suspended'] });
    await consume(earlier);
    expect(await countOf(endpoint)).toBe(0);
    await consume(suspended(endpoint, h.clock()));
    expect(await countOf(endpoint)).toBe(1);
  });

  it('an event is not delivered to a deleted endpoint', async () => {
    const endpoint = await endpointWith();
    await deleteEndpoint(h.database, endpoint.id, h.clock());
    await consume(suspended(endpoint, h.clock()));
    expect(await countOf(endpoint)).toBe(0);
  });
});

describe('an event that is redelivered', () => {
  it('a redelivered event makes no second delivery, even concurrently', async () => {
    const endpoint = await endpointWith();
    const events = Array.from({ length: 20 }, () => suspended(endpoint, h.clock()));
    await consume(...events.slice(0, 5), ...events.slice(0, 5));
    await Promise.all([consume(...events), consume(...events.toReversed()), consume(...events.slice(10))]);
    expect(await countOf(endpoint)).toBe(20);
  });

  it('a redelivered event makes no delivery to an endpoint that was created since', async () => {
    const first = await endpointWith();
    const event = suspended(first, h.clock());
    await consume(event);
    const second = await endpointWith({ developerId: first.developerId });
    await consume(event);
    expect(await Promise.all([first, second].map(countOf))).toEqual([1, 0]);
  });
});

it('an event with an invalid value fails its whole batch', async () => {
  const endpoint = await endpointWith();
  const good = suspended(endpoint, h.clock());
  for (const bad of [{ payload: undefined }, { id: 'x' }, { tenant: undefined }, { occurredAt: undefined }]) {
    await expect(consume(good, suspended(endpoint, h.clock(), bad))).rejects.toThrow();
  }
  expect(await countOf(endpoint)).toBe(0);
  expect(await consumedIds()).not.toContain(good.id);
});

describe('the body of an event', () => {
  const ids = { attemptId: newId(), challengeId: newId(), roundId: newId(), tournamentId: newId(), awardId: newId() };
  const { attemptId, challengeId, roundId, tournamentId, awardId } = ids;
  const recordedAt = new Date('2026-03-04T05:06:07.089Z');
  const award = { id: awardId, amountCents: 1_010n, payoutStatus: PayoutStatus.PAID };
  const attempt = { attemptId, challengeId, tournamentRoundId: '', playerRef: 'p' };

  it.each<[string, NonNullable<Event['payload']>, object]>([
    [
      'attempt.settled',
      {
        $case: 'attemptSettled',
        value: { ...attempt, score: 12.5, metThreshold: true, award, recordedAt },
      },
      {
        attempt_id: attemptId,
        challenge_id: challengeId,
        tournament_round_id: null,
        player_ref: 'p',
        score: 12.5,
        met_threshold: true,
        award: { id: awardId, amount: 10.1, payout_status: 'paid' },
        recorded_at: recordedAt.toISOString(),
      },
    ],
    [
      'attempt.refunded',
      {
        $case: 'attemptRefunded',
        value: {
          ...attempt,
          challengeId: '',
          tournamentRoundId: roundId,
          amountCents: 500n,
          reason: RefundReason.ROUND_CLOSED,
        },
      },
      {
        attempt_id: attemptId,
        challenge_id: null,
        tournament_round_id: roundId,
        player_ref: 'p',
        amount: 5,
        reason: 'round_closed',
      },
    ],
    [
      'challenge.suspended',
      { $case: 'challengeSuspended', value: { challengeId, name: 'Hard' } },
      { challenge_id: challengeId, name: 'Hard' },
    ],
    [
      'round.settled',
      {
        $case: 'roundSettled',
        value: { tournamentRoundId: roundId, tournamentId, rankedPlayers: 3n, purseCents: 12_345n },
      },
      { tournament_round_id: roundId, tournament_id: tournamentId, ranked_players: 3, purse: 123.45 },
    ],
    [
      'round.cancelled',
      { $case: 'roundCancelled', value: { tournamentRoundId: roundId, tournamentId } },
      { tournament_round_id: roundId, tournament_id: tournamentId },
    ],
    [
      'award.released',
      {
        $case: 'awardReleased',
        value: { awardId, attemptId: '', challengeId: '', tournamentRoundId: roundId, playerRef: 'p', amountCents: 1n },
      },
      {
        award: { id: awardId, amount: 0.01, payout_status: 'paid' },
        attempt_id: null,
        challenge_id: null,
        tournament_round_id: roundId,
        player_ref: 'p',
      },
    ],
  ])('the body of %s has the contract’s fields', async (type, payload, data) => {
    const target = h.receiver.url();
    const endpoint = await h.endpoint(target.url);
    const tenant = { programId: endpoint.tenant.programId, environment: Environment.LIVE };
    const owner = Owner.TOURNAMENT;
    await consume({ id: newId(), occurredAt: h.clock(), tenant, owner, payload });
    const [request] = target.received;
    expect(request?.headers['x-webhook-event']).toBe(type);
    expect(JSON.parse(request?.body ?? '')).toEqual({ event: type, timestamp: h.clock().toISOString(), data });
  });
});
