/**
 * A player complains: operators start from the id of the attempt or of the account, and read
 * everything about it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Developer, eventually, expectStatus, joinWorld, type SharedWorld } from '../world.ts';

type Line = { readonly id: string; readonly program_id: string; readonly account_id: string };
type Described = { readonly timeline: readonly { readonly kind: string }[] };
type Search = { readonly data: readonly { readonly id: string }[]; readonly missing: readonly string[] };
type List = { readonly data: readonly Line[]; readonly next_cursor: string | null };

describe('attempts as operators read them', () => {
  let world: SharedWorld;
  let developer: Developer;
  beforeAll(async () => {
    world = await joinWorld();
    developer = await world.newDeveloper();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const send = <Body>(path: string) => world.operator.send<Body>('GET', path);

  /** Waits for the list of attempts: an attempt is listed once its creation must have ended. */
  async function listed(query: string, count: number): Promise<readonly Line[]> {
    for (;;) {
      const { data } = expectStatus(200, await send<List>(`/attempts?${query}`)).body;
      if (data.length >= count) return data;
    }
  }

  test('each id in a complaint leads to the attempt with its account, history, deliveries and payout', async () => {
    const { program } = developer;
    const hook = await world.newReceiver(developer, { program_id: program.id, environment: 'test' });
    const challenge = await world.newChallenge({}, program);
    const player = await world.newPlayer({ partner: program.test });
    expectStatus(204, await program.test.holdNextAward(player.ref));
    const asked = { challenge_id: challenge.id, player_ref: player.ref };
    const { id } = expectStatus(201, await program.test.createAttempt(asked)).body;
    const evidence = { frames: [1, 2, 3] };
    const reported = await program.test.reportOutcome(id, { score: 100, evidence });
    const outcome = expectStatus(200, reported).body;
    const { deliveryId } = await hook.event('attempt.settled', id);
    await hook.delivery(deliveryId);
    const { award } = outcome;
    const requestId = reported.headers['x-request-id'] ?? '';
    // The log of requests is written after the answer.
    await eventually(async () => {
      const found = await send<Search>(`/search?q=${requestId}`);
      return expectStatus(200, found).body.data.length === 1 || undefined;
    }, 'the request is logged');
    const ofAttempt = [id, outcome.receipt_id, award?.id, deliveryId, requestId];
    for (const [index, searched] of [...ofAttempt, player.accountId, challenge.id, program.id].entries()) {
      const { data, missing } = expectStatus(200, await send<Search>(`/search?q=${searched}`)).body;
      const isOfAttempt = index < ofAttempt.length;
      expect([missing, data]).toEqual([
        [],
        [expect.objectContaining({ id: searched, ...(isOfAttempt && { attempt_id: id, program_id: program.id }) })],
      ]);
    }
    const byRef = await send<Search>(`/search?q=${player.ref}&program_id=${program.id}`);
    expect(expectStatus(200, byRef).body.data).toMatchObject([{ kind: 'player_ref', account_id: player.accountId }]);
    const read = expectStatus(200, await send(`/attempts/${id}`)).body;
    expect(read).toMatchObject({
      program_id: program.id,
      environment: 'test',
      account_id: player.accountId,
      player_ref: player.ref,
      evidence,
      outcome: { receipt_id: outcome.receipt_id },
      timeline: expect.arrayContaining([expect.objectContaining({ kind: 'award_held' })]),
      deliveries: [{ id: deliveryId }],
      payout: { award_id: outcome.award?.id, status: 'held', reason: 'sandbox_hold', account_id: player.accountId },
    });
  });

  test('a goodwill deposit is in the timeline that operators read, but not in the developer’s', async () => {
    const { program, portal } = developer;
    const challenge = await world.newChallenge({}, program);
    const player = await world.newPlayer({ partner: program.test });
    const asked = { challenge_id: challenge.id, player_ref: player.ref };
    const { id } = expectStatus(201, await program.test.createAttempt(asked)).body;
    const deposit = { environment: 'test', amount: '2.50', reference: 'ticket 7', attempt_id: id };
    expectStatus(201, await world.operator.deposit(player.accountId, deposit));
    const kinds = ({ timeline }: Described) => timeline.map(({ kind }) => kind);
    const read = expectStatus(200, await world.operator.send<Described>('GET', `/attempts/${id}`)).body;
    expect(kinds(read)).toEqual(['created', 'fee_charged', 'goodwill_deposited']);
    expect(read.timeline.at(-1)).toMatchObject({ amount: '2.50', reference: 'ticket 7' });
    const ofDeveloper = await portal.send<Described>('GET', `/programs/${program.id}/attempts/${id}`);
    expect(kinds(expectStatus(200, ofDeveloper).body)).toEqual(['created', 'fee_charged']);
  });

  test("an account's attempts at a challenge and in a round are in one list", async () => {
    const { program } = developer;
    const player = await world.newPlayer({ partner: program.test });
    const challenge = await world.newChallenge({}, program);
    const enter = async (contest: { challenge_id: string } | { tournament_round_id: string }) =>
      expectStatus(201, await program.test.createAttempt({ ...contest, player_ref: player.ref })).body.id;
    const first = await enter({ challenge_id: challenge.id });
    const round = await world.newRound({}, program);
    const second = await enter({ tournament_round_id: round.id });
    expectStatus(200, await program.test.reportOutcome(second, { score: 41.5 }));
    expectStatus(200, await program.test.closeRound(round.id));
    const data = await listed(`account_id=${player.accountId}`, 2);
    expect(data.map(({ id }) => id)).toEqual([second, first]);
    for (const it of data) expect(it).toMatchObject({ program_id: program.id, account_id: player.accountId });
    const ofProgram = `program_id=${program.id}&environment=test`;
    expect((await listed(`${ofProgram}&tournament_round_id=${round.id}`, 1)).map(({ id }) => id)).toEqual([second]);
    expect(expectStatus(200, await send(`/attempts/${second}`)).body).toMatchObject({
      payout: { round_id: round.id, attempt_id: null, account_id: player.accountId, status: 'paid' },
    });
  });
});
