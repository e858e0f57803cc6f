/**
 * Records the examples of `/v1` and of pushed outcomes in the partner document while one program
 * plays two challenges and a round.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { AttemptRequest, OutcomeRequest } from '@laurel/sdk';
import { createIntegrations, push } from '@laurel/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, expectStatus, joinWorld, type SharedWorld, WITH_TIEBREAK } from '../world.ts';
import { createRecorder, differences } from './record-examples.ts';

const RECORDED = new URL('../../services/gateway/src/openapi/examples/recorded-partner.json', import.meta.url);

const [PLAYER, SECOND, THIRD] = ['player-7c1', 'player-0a4', 'player-b52'] as const;
const LAP_TIMES = { metric_name: 'lap time', metric_unit: 's', threshold_direction: 'lower_is_better' } as const;
const LAP = { ...LAP_TIMES, integrity_tier: 1, fee: '1.25', prize: '12.75' } as const;
const HARBOUR_HOUR = {
  ...LAP_TIMES,
  name: 'Harbour hour',
  entry_fee: '2.25',
  attempt_cap: 3,
  min_entrants: 2,
  purse_table: [
    { rank: 1, amount: '25.00' },
    { rank: 2, amount: '15.25' },
  ],
};
const EVIDENCE = { replay: 'r-77120', checkpoints: [14.02, 29.55, 44.871, 58.214] };
const RUNS = {
  version: 1,
  map: {
    records: '/runs',
    when: [{ pointer: '/state', in: ['finished'] }],
    attempt: { attempt_id: '/attempt' },
    score: '/seconds',
    evidence: { replay: '/replay' },
  },
};
/** The partner's host in the examples. Nothing listens at the address that stands for it. */
const [GAME_HOST, UNUSED_HOST] = ['https://game.example.com', 'https://127.0.0.1:9443'] as const;

let world: SharedWorld;
beforeAll(async () => {
  world = await joinWorld();
});
afterAll(() => world?.[Symbol.asyncDispose]());

test('the examples of the partner document are recorded requests and responses of the routes', async () => {
  const program = await world.newProgram();
  const { test: partner } = program;
  const email = `${randomUUID()}@example.com`;
  const recorder = createRecorder(world.http.journal, { [email]: 'player@example.com', [UNUSED_HOST]: GAME_HOST });
  const { record } = recorder;
  const enter = async (entry: AttemptRequest) => expectStatus(201, await partner.createAttempt(entry)).body.id;
  const report = async (attemptId: string, outcome: OutcomeRequest) =>
    expectStatus(200, await partner.reportOutcome(attemptId, outcome)).body;

  expectStatus(201, await partner.createPlayer(PLAYER, '100.00', { email }));
  for (const ref of [SECOND, THIRD]) expectStatus(201, await partner.createPlayer(ref, '100.00'));
  expectStatus(201, await partner.linkPlayer(PLAYER, email));
  record('linkPlayer', 'linked', 'A player who has an account');

  const lap = { ...LAP, name: 'One lap under a minute', threshold: 59.8, description: 'A clean lap, in any car.' };
  const challenge = await world.newChallenge(lap, program);
  expectStatus(200, await partner.listChallenges(PLAYER));
  record('listChallenges', 'live', 'The default list');
  const rain = { ...LAP, name: 'One lap in the rain', status: 'calibrating', threshold: null } as const;
  const seeded = await world.newChallenge(rain, program);
  expectStatus(200, await partner.listChallenges(PLAYER, 'all'));
  record('listChallenges', 'all', '`status=all`, with one that is calibrating');
  const distribution = { p5: 61.6, p25: 68, p50: 74.2, p75: 82.5, p95: 97.1 };
  expectStatus(201, await partner.seedChallenge(seeded.id, { distribution, sample_size: 12_400 }));
  record('seedDistribution', 'seeded', 'Lap times in seconds, and the bar that follows');
  expectStatus(200, await partner.listChallenges(PLAYER));
  record('listChallenges', 'ramp', 'After it was seeded: the prize is capped');

  const entry = { challenge_id: challenge.id, player_ref: PLAYER };
  const won = await enter({ ...entry, metadata: { match: 'm-20931', car: 'kestrel' } });
  record('createAttempt', 'challenge', 'Against a challenge');
  expectStatus(200, await partner.getAttempt(won));
  record('getAttempt', 'open', 'Open');
  const missed = await enter(entry);
  await report(won, { score: 58.214, evidence: EVIDENCE });
  record('reportOutcome', 'paid', 'A win, paid');
  expectStatus(200, await partner.getAttempt(won));
  record('getAttempt', 'settled', 'Settled');
  await report(missed, { score: 60.4 });
  record('reportOutcome', 'missed', 'The bar was not cleared');
  expectStatus(204, await partner.holdNextAward(SECOND));
  await report(await enter({ ...entry, player_ref: SECOND }), { score: 59.1 });
  record('reportOutcome', 'held', 'A win, held for review: no money moved');

  const round = await world.newRound(HARBOUR_HOUR, program);
  expectStatus(200, await partner.listTournaments());
  record('listTournaments', 'active', 'One tournament and its open round');
  const inRound = { tournament_round_id: round.id, player_ref: PLAYER };
  const first = await enter(inRound);
  record('createAttempt', 'round', 'In a round');
  await report(first, { score: 58.214 });
  record('reportOutcome', 'round', 'In a round');
  for (const [player_ref, score] of [
    [SECOND, 58.9],
    [THIRD, 61.03],
  ] as const) {
    await report(await enter({ ...inRound, player_ref }), { score });
  }
  expectStatus(200, await partner.getLeaderboard(round.id, PLAYER));
  record('getLeaderboard', 'running', 'Running: the own row and its neighbours');
  expectStatus(200, await partner.getLeaderboard(round.id));
  record('getLeaderboard', 'masked', 'Masked: no player named, or a player who is not in the round');
  const late = await enter(inRound);
  const withTiebreak = await world.newRound({ ...HARBOUR_HOUR, ...WITH_TIEBREAK }, program);
  await report(await enter({ ...inRound, tournament_round_id: withTiebreak.id }), { score: 58.214, tiebreak: 3 });
  record('reportOutcome', 'tiebreak', 'In a tournament that declares a tiebreak');

  const integrations = createIntegrations(partner);
  const canonical = expectStatus(201, await integrations.create({ transport: 'push_webhook' })).body;
  record('createIntegration', 'canonical', 'Pushes of the canonical body');
  expectStatus(201, await integrations.create({ transport: 'push_webhook', descriptor: RUNS }));
  record('createIntegration', 'mapped', "Pushes in the game's own words");
  const pull = { url: `${UNUSED_HOST}/runs`, paging: { type: 'none' } };
  const descriptor = {
    version: 1,
    map: { records: '/runs', attempt: { attempt_id: '/attempt' }, score: '/seconds' },
    pull,
  };
  expectStatus(201, await integrations.create({ transport: 'pull_poll', descriptor, pull_interval_seconds: 60 }));
  record('createIntegration', 'poll', 'Polls of a URL of the partner');
  expectStatus(201, await integrations.create({ transport: 'sdk_direct' }));
  record('createIntegration', 'direct', 'An `sdk_direct`: nothing to configure');
  expectStatus(200, await integrations.list());
  record('listIntegrations', 'all', 'Each transport');
  expectStatus(200, await integrations.update(canonical.id, { status: 'active' }));
  record('updateIntegration', 'activate', 'Take it into use');
  expectStatus(200, await integrations.rotateSecret(canonical.id));
  record('rotateIntegrationSecret', 'rotated', 'With its new secret');
  expectStatus(200, await integrations.retirePreviousSecret(canonical.id));
  record('retirePreviousIntegrationSecret', 'retired', 'Only the current secret verifies');

  const { id } = expectStatus(201, await integrations.create({ transport: 'push_webhook' })).body;
  expectStatus(200, await integrations.update(id, { status: 'active' }));
  const target = { id, secret: expectStatus(200, await integrations.rotateSecret(id)).body.signing_secret };
  const pushed = await enter({ ...entry, player_ref: THIRD });
  const run = { attempt_id: pushed, score: 58.214, evidence: { replay: 'r-77120' } };
  expectStatus(200, await push(world.http, target, run));
  record('pushOutcome', 'record', 'One record, with the descriptor `{}`: the outcome, as `/v1` answers it');

  expectStatus(200, await partner.closeRound(round.id));
  const results = [run, { attempt_id: late, score: 58.214 }];
  expectStatus(200, await push(world.http, target, results));
  record('pushOutcome', 'batch', 'Several records: what became of each');
  await eventually(async () => {
    const { body } = expectStatus(200, await partner.getLeaderboard(round.id, PLAYER));
    return ('data' in body && body.data[1]?.payout_status === 'paid') || undefined;
  }, 'the purse is paid');
  record('getLeaderboard', 'settled', 'Settled: the complete table');
  await eventually(async () => {
    const { body } = expectStatus(200, await partner.getAttempt(late));
    return body.status === 'expired' || undefined;
  }, 'the attempt without a score has expired');
  record('getAttempt', 'expired', 'Expired: the fee is back');

  const examples = recorder.examples();
  // `LAUREL_RECORD_EXAMPLES=1` writes them again; then `npm run openapi`.
  if (process.env.LAUREL_RECORD_EXAMPLES) writeFileSync(RECORDED, `${JSON.stringify(examples, null, 2)}\n`);
  expect(differences(JSON.parse(readFileSync(RECORDED, 'utf8')), examples)).toEqual([]);
});
