/**
 * Pushed outcomes, through two replicas of the integration service and the real owners: each report settles one attempt once, however it
 * arrives, and a caller that cannot sign learns nothing.
 */
import { randomUUID } from 'node:crypto';
import { newId, newOwnedId } from '@laurel/ids';
import { Environment } from '@laurel/proto/common';
import { IntegrationStatus, LogKind, RecordStatus } from '@laurel/proto/integration';
import { signWebhook } from '@laurel/signature';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, startWorld, WITH_TIEBREAK, type World } from '../world.ts';
import {
  type PushedIntegration,
  type Pusher,
  recordsOf,
  settledOf,
  startPusher,
  verdictOf,
  verdictsOf,
} from './pusher.ts';

let world: World;
let pusher: Pusher;
let byId: PushedIntegration;

beforeAll(async () => {
  world = await startWorld({ replicas: { integration: 2 }, internalTls: false });
  pusher = await startPusher(world);
  byId = await pusher.newIntegration();
});
afterAll(async () => {
  await world?.expectAuditOk();
  await pusher?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

type Parent = { readonly challenge_id: string } | { readonly tournament_round_id: string };

async function openAttempt(parent: Parent, ref: string, partner = world.partner): Promise<string> {
  return expectStatus(201, await partner.createAttempt({ ...parent, player_ref: ref })).body.id;
}

/** A new player's open attempt on a new challenge. */
async function newAttempt(terms = {}) {
  const [challenge, player] = [await world.newChallenge(terms), await world.newPlayer()];
  const parent = { challenge_id: challenge.id };
  return { parent, player, id: await openAttempt(parent, player.ref) };
}

/** A push_webhook whose reports name a player of the challenge. */
function ofPlayers(challengeId: string, pick: 'only' | 'oldest' = 'only') {
  const descriptor = {
    version: 1,
    map: {
      attempt: { player_ref: '/player', challenge_id: { const: challengeId }, pick },
      score: '/score',
      dedupe: '/id',
    },
  };
  return pusher.newIntegration({ descriptor });
}

async function outcomeOf(id: string) {
  return expectStatus(200, await world.partner.getAttempt(id)).body.outcome;
}

describe('a push of one record', () => {
  test('a signed push settles its attempt as a report over /v1 does, and pays the prize', async () => {
    const { id, player } = await newAttempt();
    const settled = settledOf(await pusher.push(byId, { attempt_id: id, score: 120.5, evidence: { replay: 'x' } }));
    expect(settled).toMatchObject({
      attemptId: id,
      score: 120.5,
      metThreshold: true,
      thresholdApplied: 100,
      repeated: false,
    });
    expect(settled.award).toMatchObject({ amountCents: 500n, paidAt: expect.any(Date) });
    expect(await outcomeOf(id)).toMatchObject({
      score: 120.5,
      met_threshold: true,
      receipt_id: settled.receiptId,
      award: { id: settled.award?.id, paid_at: settled.award?.paidAt?.toISOString() },
    });
    expect(await world.balance(player)).toBe('104.00');
  });

  test('the same body again is answered with the same outcome and moves no money; another score, tiebreak or evidence is refused', async () => {
    const { id, player } = await newAttempt();
    const body = { attempt_id: id, score: 150, evidence: { a: 1 } };
    const first = settledOf(await pusher.push(byId, body));
    for (const replica of [0, 1])
      expect(await pusher.push(byId, body, { replica })).toEqual({
        $case: 'settled',
        value: { ...first, repeated: true },
      });
    for (const other of [
      { ...body, score: 151 },
      { ...body, evidence: { a: 2 } },
    ])
      expect(verdictOf(await pusher.push(byId, other))).toBe('attempt_already_settled');
    expect(await world.balance(player)).toBe('104.00');
  });

  test('one report that arrives many times at once, at two replicas, alone and in batches, through two integrations, settles once', async () => {
    const other = await pusher.newIntegration();
    for (let round = 0; round < 5; round += 1) {
      const { id, player } = await newAttempt();
      const record = { attempt_id: id, score: 200 };
      const bodies: readonly unknown[] = [
        record,
        [record],
        [record, record],
        [{ attempt_id: newOwnedId('challenge'), score: 1 }, record],
      ];
      const answers = await Promise.all(
        bodies.flatMap((body) =>
          [byId, other].flatMap((integration) => [0, 1].map((replica) => pusher.push(integration, body, { replica }))),
        ),
      );
      const verdicts = answers.flatMap((answer) =>
        answer?.$case === 'batch' ? verdictsOf(answer) : [verdictOf(answer)],
      );
      expect(verdicts.filter((verdict) => verdict === 'settled')).toHaveLength(1);
      expect(verdicts.filter((verdict) => verdict === 'duplicate')).toHaveLength(19);
      expect(verdicts.filter((verdict) => verdict === 'not_found')).toHaveLength(4);
      expect(await world.balance(player)).toBe('104.00');
    }
  });

  test('different scores for one attempt at once settle one of them, and the others are refused', async () => {
    const { id } = await newAttempt();
    const scores = Array.from({ length: 12 }, (_, index) => index);
    const answers = await Promise.all(
      scores.map((score) => pusher.push(byId, { attempt_id: id, score }, { replica: score % 2 })),
    );
    const verdicts = answers.map(verdictOf);
    expect(verdicts.filter((verdict) => verdict === 'settled')).toHaveLength(1);
    expect(verdicts.filter((verdict) => verdict === 'attempt_already_settled')).toHaveLength(11);
    expect((await outcomeOf(id))?.score).toBe(verdicts.indexOf('settled'));
  });

  test('an attempt of another program or of the other environment is not found', async () => {
    const [mine, other] = [await newAttempt(), await world.newProgram()];
    const ofOther = await pusher.newIntegration({ programId: other.id });
    const live = await pusher.newIntegration({ environment: Environment.LIVE });
    for (const integration of [ofOther, live])
      expect(verdictOf(await pusher.push(integration, { attempt_id: mine.id, score: 1 }))).toBe('not_found');
    expect(verdictOf(await pusher.push(byId, { attempt_id: newId(), score: 1 }))).toBe('not_found');
    expect(await outcomeOf(mine.id)).toBeNull();
  });

  test('what the owner refuses reaches the partner as its code', async () => {
    const { id } = await newAttempt({ score_min: 0, score_max: 1_000 });
    expect(verdictOf(await pusher.push(byId, { attempt_id: id, score: 1_001 }))).toBe('score_out_of_range');

    const round = await world.newRound(WITH_TIEBREAK);
    const player = await world.newPlayer();
    const parent = { tournament_round_id: round.id };
    const [first, second] = [await openAttempt(parent, player.ref), await openAttempt(parent, player.ref)];
    const withoutTiebreak = await pusher.push(byId, { attempt_id: first, score: 5 });
    expect(verdictOf(withoutTiebreak)).toBe('tiebreak_required');
    const settled = settledOf(await pusher.push(byId, { attempt_id: first, score: 5, tiebreak: 9 }));
    expect(settled).toMatchObject({ metThreshold: false, thresholdApplied: undefined, award: undefined });
    expectStatus(200, await world.partner.closeRound(round.id));
    const late = verdictOf(await pusher.push(byId, { attempt_id: second, score: 5, tiebreak: 9 }));
    expect(['round_closed', 'attempt_already_settled']).toContain(late);
  });

  test('a body that is no record, no JSON, or has more than 100 records is refused as a whole', async () => {
    const records = Array.from({ length: 101 }, () => ({ attempt_id: newOwnedId('challenge'), score: 1 }));
    for (const body of ['', '{', '{"score":1,"score":2}', '"x"', { score: 1 }, { attempt_id: 'x', score: 1 }, records])
      expect(verdictOf(await pusher.push(byId, body))).toBe('invalid_request');
  });
});

describe('a push of many records', () => {
  test('each record of a batch is settled or refused for itself, in order', async () => {
    const [one, other, settled] = [await newAttempt(), await newAttempt(), await newAttempt()];
    settledOf(await pusher.push(byId, { attempt_id: settled.id, score: 3 }));
    const answer = await pusher.push(byId, [
      { attempt_id: one.id, score: 1 },
      { attempt_id: newOwnedId('tournament'), score: 1 },
      { attempt_id: settled.id, score: 4 },
      { attempt_id: other.id },
      { attempt_id: settled.id, score: 3 },
      { attempt_id: other.id, score: 2 },
    ]);
    expect(verdictsOf(answer)).toEqual([
      'settled',
      'not_found',
      'attempt_already_settled',
      'invalid_request',
      'duplicate',
      'settled',
    ]);
    expect(recordsOf(answer).map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5]);
  });
});

describe('a report that names a player', () => {
  test('a captured body never settles another attempt: neither later, nor at another replica, nor when its pair was lost', async () => {
    for (const pick of ['only', 'oldest'] as const) {
      const { parent, player, id } = await newAttempt();
      const integration = await ofPlayers(parent.challenge_id, pick);
      const body = { id: randomUUID(), player: player.ref, score: 50 };
      expect(settledOf(await pusher.push(integration, body))).toMatchObject({ attemptId: id, repeated: false });
      const second = await openAttempt(parent, player.ref);
      for (const replica of [0, 1])
        expect(settledOf(await pusher.push(integration, body, { replica }))).toMatchObject({
          attemptId: id,
          repeated: true,
        });
      expect(verdictOf(await pusher.push(integration, { ...body, score: 51 }))).toBe('attempt_already_settled');

      const database = world.stack.database('integration');
      await database.query('delete from report_attempts where integration_id = $1', [integration.id]);
      expect(verdictOf(await pusher.push(integration, body))).toBe('attempt_already_settled');
      expect(await outcomeOf(second)).toBeNull();
    }
  });

  test('one report at two replicas at once settles one of the player’s two open attempts', async () => {
    const { parent, player, id } = await newAttempt();
    const second = await openAttempt(parent, player.ref);
    const integration = await ofPlayers(parent.challenge_id, 'oldest');
    const body = { id: randomUUID(), player: player.ref, score: 1 };
    const copies = Array.from({ length: 10 }, (_, index) => pusher.push(integration, body, { replica: index % 2 }));
    const settled = (await Promise.all(copies)).map(settledOf);
    expect(new Set(settled.map(({ attemptId }) => attemptId))).toEqual(new Set([id]));
    expect(settled.filter(({ repeated }) => !repeated)).toHaveLength(1);
    expect(await outcomeOf(second)).toBeNull();
  });

  test('the reports of a batch settle the player’s attempts in their order, and no more than there are', async () => {
    const { parent, player, id } = await newAttempt();
    const second = await openAttempt(parent, player.ref);
    const integration = await ofPlayers(parent.challenge_id, 'oldest');
    const reports = [1, 2, 3].map((score) => ({ id: randomUUID(), player: player.ref, score }));
    const records = recordsOf(await pusher.push(integration, reports));
    expect(records.map(({ attemptId, code }) => [attemptId, code])).toEqual([
      [id, ''],
      [second, ''],
      ['', 'not_found'],
    ]);
  });

  test('a player with two open attempts is refused where the descriptor expects one', async () => {
    const { parent, player } = await newAttempt();
    await openAttempt(parent, player.ref);
    const integration = await ofPlayers(parent.challenge_id);
    const body = { id: randomUUID(), player: player.ref, score: 1 };
    expect(verdictOf(await pusher.push(integration, body))).toBe('invalid_request');
  });

  test('a score without an attempt is kept once while its challenge calibrates, and never settles an attempt', async () => {
    const challenge = await world.newChallenge({ status: 'calibrating', threshold: null });
    const [integration, player] = [await ofPlayers(challenge.id), await world.newPlayer()];
    const body = { id: randomUUID(), player: player.ref, score: 33 };
    const answers = await Promise.all([0, 1, 0, 1].map((replica) => pusher.push(integration, body, { replica })));
    expect(answers.flatMap(verdictsOf)).toEqual(['listened', 'listened', 'listened', 'listened']);
    const id = await openAttempt({ challenge_id: challenge.id }, player.ref);
    expect(verdictOf(await pusher.push(integration, body))).toBe('listened');
    expect(await outcomeOf(id)).toBeNull();
    const samples = await world.stack
      .database('integration')
      .query('select player_ref, score from listened_samples where challenge_id = $1', [challenge.id]);
    expect(samples).toEqual([{ player_ref: player.ref, score: 33 }]);
    expect(verdictOf(await pusher.push(integration, { ...body, id: randomUUID() }))).toBe('settled');
  });
});

describe('a caller that cannot sign', () => {
  test('learns nothing: each failure of the signature, also of an unknown id, is the same refusal, and is not logged', async () => {
    const { id } = await newAttempt();
    const body = { attempt_id: id, score: 1 };
    const signature = signWebhook(byId.secret, Buffer.from(JSON.stringify(body)));
    const draft = await pusher.newIntegration({ status: IntegrationStatus.DRAFT });
    const fails: readonly (readonly [PushedIntegration, string])[] = [
      [byId, ''],
      [byId, signature.replace('sha256=', 'sha512=')],
      [byId, signWebhook('0'.repeat(64), Buffer.from(JSON.stringify(body)))],
      [draft, signature],
      [{ ...byId, id: newId() }, signature],
      [{ ...byId, id: 'nonsense' }, signature],
    ];
    const answers = await Promise.all(fails.map(([one, given]) => pusher.push(one, body, { signature: given })));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers.map(verdictOf)).toEqual(fails.map(() => 'unauthorized'));
    expect(await outcomeOf(id)).toBeNull();
    await pusher.push(draft, body);
    expect(await pusher.log(draft, 1)).toHaveLength(1);
  });

  test('a retired secret verifies nothing from the next push on', async () => {
    const integration = await pusher.newIntegration();
    const [first] = pusher.replicas;
    const tenant = { programId: integration.programId, environment: integration.environment };
    const rotated = await first?.rotateSecret({ tenant, integrationId: integration.id });
    if (rotated === undefined || 'kind' in rotated) throw new Error('not rotated');
    const body = { attempt_id: newOwnedId('challenge'), score: 1 };
    const next = { ...integration, secret: rotated.signingSecret };
    for (const one of [integration, next]) expect(verdictOf(await pusher.push(one, body))).toBe('not_found');
    await first?.retirePreviousSecret({ tenant, integrationId: integration.id });
    for (const replica of [0, 1]) {
      expect(verdictOf(await pusher.push(integration, body, { replica }))).toBe('unauthorized');
      expect(verdictOf(await pusher.push(next, body, { replica }))).toBe('not_found');
    }
  });
});

test('a draft, a suspended integration and one whose program is suspended settle nothing', async () => {
  const { id } = await newAttempt();
  const body = { attempt_id: id, score: 1 };
  for (const status of [IntegrationStatus.DRAFT, IntegrationStatus.SUSPENDED])
    expect(verdictOf(await pusher.push(await pusher.newIntegration({ status }), body))).toBe('not_found');
  const program = await world.newProgram();
  const suspended = await pusher.newIntegration({ programId: program.id });
  await pusher.putProgram(suspended, [Environment.LIVE]);
  expect(verdictOf(await pusher.push(suspended, body))).toBe('not_found');
  expect(await outcomeOf(id)).toBeNull();
});

test('the log states each push with a valid signature and what became of its records', async () => {
  const integration = await pusher.newIntegration();
  const { id } = await newAttempt();
  const records = [
    { attempt_id: id, score: 1 },
    { attempt_id: newOwnedId('challenge'), score: 1 },
  ];
  await pusher.push(integration, records);
  await pusher.push(integration, '{');
  const [second, first] = await pusher.log(integration, 2);
  expect(second).toMatchObject({ kind: LogKind.PUSH, bodyExcerpt: '{', error: 'invalid_request', records: [] });
  expect(first).toMatchObject({
    kind: LogKind.PUSH,
    bodyExcerpt: JSON.stringify(records),
    error: '',
    records: [
      { index: 0, attemptId: id, status: RecordStatus.SETTLED, code: '' },
      { index: 1, attemptId: records[1]?.attempt_id, status: RecordStatus.REJECTED, code: 'not_found' },
    ],
  });
});
