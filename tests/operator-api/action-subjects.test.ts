/**
 * What the log of operator actions keeps of each change that an operator can make: the subject as
 * operators see it, before the change and after it.
 */
import { randomUUID } from 'node:crypto';
import type { Award } from '@laurel/sdk';
import type { Answer, OperatorChange, PayoutBody } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  expectStatus,
  inMinutes,
  joinWorld,
  liveTerms,
  type Player,
  type SharedWorld,
  tournamentTerms,
} from '../world.ts';

let world: SharedWorld;
beforeAll(async () => {
  world = await joinWorld();
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** A change to make. */
interface Change {
  /** The subject as operators see it now; null if the change creates it. */
  readonly before: object | null;
  readonly act: () => Promise<Answer<unknown>>;
  /**
   * The subject's name, from the response, and the subject as operators see it after the change.
   * The name is null for a sign-in or sign-out, which has no subject.
   */
  readonly after: (
    body: never,
  ) => Promise<readonly [subject: string | null, shown: unknown]> | readonly [string | null, unknown];
}

const operator = () => world.operator;
const showProgram = async (id: string) =>
  expectStatus(200, await operator().send<object>('GET', `/programs/${id}`)).body;
const showRound = async (id: string) => expectStatus(200, await operator().send<object>('GET', `/rounds/${id}`)).body;
const showLinks = async ({ accountId }: Player) => expectStatus(200, await operator().playerLinks(accountId)).body;

/** A route that creates a subject returns it as operators see it. */
function creation(kind: string, act: () => Promise<Answer<unknown>>): Change {
  return { before: null, act, after: (body: { id: string }) => [`${kind}:${body.id}`, body] };
}

async function programChange(id: string, act: () => Promise<Answer<unknown>>): Promise<Change> {
  return { before: await showProgram(id), act, after: async () => [`program:${id}`, await showProgram(id)] };
}

async function linksChange(player: Player, act: () => Promise<Answer<unknown>>): Promise<Change> {
  const subject = `account:${player.accountId}`;
  return { before: await showLinks(player), act, after: async () => [subject, await showLinks(player)] };
}

async function payoutChange(verb: 'releasePayout' | 'denyPayout'): Promise<Change> {
  const player = await world.newPlayer();
  expectStatus(204, await world.partner.holdNextAward(player.ref));
  const entry = { challenge_id: (await world.newChallenge()).id, player_ref: player.ref };
  const { id } = expectStatus(201, await world.partner.createAttempt(entry)).body;
  const { award } = expectStatus(200, await world.partner.reportOutcome(id, { score: 100 })).body;
  const { id: awardId } = award as Award;
  const listed = expectStatus(200, await operator().listPayouts('held')).body.data;
  return {
    before: listed.find((payout) => payout.award_id === awardId) ?? expect.fail('the payout is not held'),
    act: () => operator()[verb](awardId),
    after: (body: PayoutBody) => [`award:${awardId}`, body],
  };
}

async function voiding(
  parentOf: () => Promise<{ challenge_id: string } | { tournament_round_id: string }>,
): Promise<Change> {
  const player = await world.newPlayer();
  const entry = { ...(await parentOf()), player_ref: player.ref, metadata: { level: 7 } };
  const attempt = expectStatus(201, await world.partner.createAttempt(entry)).body;
  const { id } = attempt;
  return {
    before: attempt,
    act: () => operator().voidAttempt(id, 'a bug'),
    after: async () => [`attempt:${id}`, expectStatus(200, await world.partner.getAttempt(id)).body],
  };
}

const CHANGES: Record<OperatorChange, () => Promise<Change> | Change> = {
  sign_in: () => ({ before: null, act: () => operator().signIn(), after: (body: object) => [null, body] }),
  sign_out: async () => {
    const cookie = expectStatus(201, await operator().signIn()).headers['set-cookie']?.split(';')[0] ?? '';
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    return {
      before: null,
      act: () => world.http.send('DELETE', '/api/operator/session', { headers }),
      after: () => [null, null],
    };
  },
  create_developer: () => {
    const credentials = { email: `${randomUUID()}@example.com`, password: `password ${randomUUID()}` };
    return creation('developer', () => operator().createDeveloper(credentials));
  },
  create_sign_in_link: async () => {
    const { id } = await world.newDeveloper();
    return {
      before: null,
      act: () => operator().send('POST', `/developers/${id}/sign-in-link`),
      // Only the response shows the token.
      after: (body: object) => [`developer:${id}`, { ...body, token: '[redacted]' }],
    };
  },
  create_program: () => ({
    before: null,
    act: () => operator().createProgram('New'),
    // Only this response shows the key.
    after: async ({ id }: { id: string }) => [`program:${id}`, await showProgram(id)],
  }),
  approve_program: async () => {
    const { id } = expectStatus(201, await operator().createProgram('Draft')).body;
    return programChange(id, () => operator().approveProgram(id));
  },
  replace_live_key: async () => {
    const { id } = await world.newProgram();
    return programChange(id, () => operator().replaceLiveKey(id));
  },
  change_program: async () => {
    const { id } = await world.newProgram();
    return programChange(id, () => operator().updateProgram(id, { status: 'suspended' }));
  },
  change_program_limits: async () => {
    const { id } = await world.newProgram();
    const path = `/programs/${id}/limits`;
    const change = { environment: 'live', payout_limit: '20000.00', fee_limit: null };
    const { data } = expectStatus(200, await operator().send<{ data: object[] }>('GET', path)).body;
    return {
      before: data[1] ?? null,
      act: () => operator().send('PATCH', path, { body: change }),
      after: (body: object) => [`program:${id}`, body],
    };
  },
  add_insider: async () => {
    const { accountId } = await world.newPlayer();
    return programChange(world.program.id, () => operator().addInsider(world.program.id, accountId));
  },
  remove_insider: async () => {
    const { accountId } = await world.newPlayer();
    expectStatus(201, await operator().addInsider(world.program.id, accountId));
    const path = `/programs/${world.program.id}/insiders/${accountId}`;
    return programChange(world.program.id, () => operator().send('DELETE', path));
  },
  create_account: () => creation('account', () => operator().createAccount(newPerson())),
  change_account: async () => {
    const account = expectStatus(201, await operator().createAccount(newPerson())).body;
    return {
      before: account,
      act: () => operator().updateAccount(account.id, { under_investigation: true }),
      after: (body: object) => [`account:${account.id}`, body],
    };
  },
  deposit: async () => {
    const player = await world.newPlayer({ funds: '2.00' });
    const deposit = { environment: 'test', amount: '12.50', reference: randomUUID() };
    return {
      before: { balance: '2.00' },
      act: () => operator().deposit(player.accountId, deposit),
      after: async () => [`account:${player.accountId}`, { balance: await world.balance(player) }],
    };
  },
  sever_player_links: async () => {
    const player = await world.newPlayer();
    return linksChange(player, () => operator().severPlayerLinks(player.accountId, world.program.id));
  },
  lift_severance: async () => {
    const player = await world.newPlayer();
    expectStatus(204, await operator().severPlayerLinks(player.accountId, world.program.id));
    return linksChange(player, () => operator().liftSeverance(player.accountId, world.program.id));
  },
  create_challenge: () => creation('challenge', () => operator().createChallenge(world.program.id, liveTerms())),
  change_challenge: async () => {
    const challenge = await world.newChallenge();
    return {
      before: challenge,
      act: () => operator().updateChallenge(challenge.id, { status: 'suspended' }),
      after: (body: object) => [`challenge:${challenge.id}`, body],
    };
  },
  create_tournament: () =>
    creation('tournament', () => operator().createTournament(world.program.id, tournamentTerms())),
  change_tournament: async () => {
    const tournament = await world.newTournament();
    const round = await world.openRound(tournament.id);
    return {
      before: { ...tournament, current_round: round },
      act: () => operator().updateTournament(tournament.id, { status: 'paused' }),
      after: (body: object) => [`tournament:${tournament.id}`, body],
    };
  },
  open_round: async () => {
    const tournament = await world.newTournament();
    return {
      before: tournament,
      act: () => operator().openRound(tournament.id, { closes_at: inMinutes(60) }),
      after: (round: object) => [`tournament:${tournament.id}`, { ...tournament, current_round: round }],
    };
  },
  cancel_round: async () => {
    const { id } = await world.newRound();
    return {
      before: await showRound(id),
      act: () => operator().cancelRound(id, 'a bug'),
      after: async () => [`round:${id}`, await showRound(id)],
    };
  },
  release_payout: () => payoutChange('releasePayout'),
  deny_payout: () => payoutChange('denyPayout'),
  void_attempt: () => voiding(async () => ({ challenge_id: (await world.newChallenge()).id })),
};

/** Changes of another kind of subject through a route that is listed above. */
const VARIANTS: readonly (readonly [string, OperatorChange, () => Promise<Change>])[] = [
  [
    'void_attempt of an entry of a round',
    'void_attempt',
    () => voiding(async () => ({ tournament_round_id: (await world.newRound()).id })),
  ],
];

function newPerson() {
  const email = `${randomUUID()}@example.com`;
  return { email, date_of_birth: '1990-05-17', jurisdiction: 'US-CA', verification_level: 1 };
}

describe('the log of operator actions: the subject before and after each change', () => {
  const all = Object.entries(CHANGES).map(([action, prepare]) => [action, action, prepare] as const);

  test.each([...all, ...VARIANTS])(
    'the subject is logged before and after a change: %s',
    async (_, action, prepare) => {
      const { before, act, after } = await prepare();
      const answer = await act();
      expect(answer.status).toBeGreaterThanOrEqual(200);
      expect(answer.status).toBeLessThan(300);
      const [subject, shown] = await after(answer.body as never);
      const query = `/actions?${new URLSearchParams({ action, limit: '1', ...(subject !== null && { subject }) })}`;
      const { data } = expectStatus(200, await operator().send<{ data: object[] }>('GET', query)).body;
      expect(data).toMatchObject([{ action, subject, outcome: 'done', status: answer.status }]);
      expect(data[0]).toMatchObject({ request_id: answer.headers['x-request-id'] });
      const logged = data[0] as { before: unknown; after: unknown };
      expect(logged.before).toEqual(before);
      expect(logged.after).toEqual(shown);
      // A session that has ended shows nothing.
      if (action === 'sign_out') return;
      expect(logged.after).not.toBeNull();
      // A program is shown without its insiders.
      if (action !== 'add_insider' && action !== 'remove_insider') expect(logged.after).not.toEqual(logged.before);
    },
  );
});
