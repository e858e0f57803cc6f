import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { expectStatus } from '../world.ts';
import { hasChromium } from './chromium.ts';
import { feesOf, type GamePage, useGame } from './game.ts';

const INIT = `laurel.init({ endpoint: '/laurel' })`;
const arm = (target: object) => `laurel.arm(${JSON.stringify(target)})`;
const failure = (code: string, serverCode?: string) => ({ name: 'LaurelBrowserError', code, serverCode });

describe.skipIf(!(await hasChromium()))(
  'the browser library in Chromium, through the example game, against the stack',
  () => {
    const h = useGame();

    /** A page of a player with money, signed in and initialised. */
    async function enter() {
      const [player, opened] = await Promise.all([h.world.newPlayer({ funds: '20.00' }), h.openPage()]);
      await opened.signIn(player);
      expect(await opened.call(INIT)).toBeUndefined();
      return { player, ...opened };
    }
    const begin = async ({ call }: Pick<GamePage, 'call'>, target: object) => {
      expect(await call(arm(target))).toBeUndefined();
      return call('laurel.begin()');
    };

    test('every call before init throws not_initialised', async () => {
      await using opened = await h.openPage();
      const calls = ['challenges()', `leaderboard('1')`, `arm({ roundId: '1' })`, 'disarm()', 'begin()', 'result()'];
      for (const call of calls) expect(await opened.call(`laurel.${call}`)).toEqual(failure('not_initialised'));
    });

    test('begin without a target throws not_armed, and so does result without an attempt', async () => {
      await using opened = await enter();
      expect(await opened.call('laurel.begin()')).toEqual(failure('not_armed'));
      await opened.call(arm({ challengeId: randomUUID() }));
      expect(await opened.call('laurel.result()')).toEqual(failure('not_armed'));
    });

    test('arming another target while an attempt is open throws attempt_in_progress', async () => {
      await using opened = await enter();
      const challenge = await h.world.newChallenge();
      expect(await begin(opened, { challengeId: challenge.id })).toMatchObject({ status: 'open' });
      expect(await opened.call(arm({ challengeId: challenge.id }))).toEqual(failure('attempt_in_progress'));
      await opened.page.reload();
      await opened.call(INIT);
      expect(await opened.call('laurel.state.status')).toBe('open');
      expect(await opened.call(arm({ challengeId: challenge.id }))).toEqual(failure('attempt_in_progress'));
      await opened.call('laurel.disarm()');
      expect(await opened.call(arm({ challengeId: challenge.id }))).toBeUndefined();
    });

    test('reporting an outcome from the browser throws client_reporting_removed', async () => {
      await using opened = await enter();
      await opened.call('laurel.challenges()');
      const before = h.game.requests.length;
      expect(await opened.call('laurel.reportOutcome({ score: 1000 })')).toEqual(failure('client_reporting_removed'));
      expect(h.game.requests.length).toBe(before);
      const forged = `fetch('/laurel/attempts/${randomUUID()}/outcome', { method: 'POST' }).then((answer) => answer.status)`;
      expect(await opened.call(forged)).toBe(410);
    });

    test('a call without an HTTP response throws network', async () => {
      await using opened = await enter();
      await opened.page.context().setOffline(true);
      expect(await opened.call('laurel.challenges()')).toEqual(failure('network'));
      await opened.page.context().setOffline(false);
      h.game.replies = 'lose';
      try {
        const challenge = await h.world.newChallenge();
        expect(await begin(opened, { challengeId: challenge.id })).toEqual(failure('network'));
        expect(await opened.call('laurel.state.status')).toBe('unconfirmed');
      } finally {
        h.game.replies = 'pass';
      }
    });

    test('a call after the session has ended throws unauthorized', async () => {
      await using opened = await enter();
      const challenge = await h.world.newChallenge();
      await opened.signOut();
      expect(await opened.call('laurel.challenges()')).toEqual(failure('unauthorized', 'unauthorized'));
      expect(await begin(opened, { challengeId: challenge.id })).toEqual(failure('unauthorized', 'unauthorized'));
      expect(await opened.call('laurel.state.status')).toBe('armed');
      await opened.signIn(opened.player);
      expect(await opened.call('laurel.begin()')).toMatchObject({ status: 'open' });
    });

    test('begin without funds throws insufficient_funds and charges nothing', async () => {
      await using opened = await enter();
      const challenge = await h.world.newChallenge({ fee: '100.00' });
      expect(await begin(opened, { challengeId: challenge.id })).toEqual(
        failure('insufficient_funds', 'insufficient_funds'),
      );
      expect(await opened.call('laurel.state')).toEqual({ status: 'idle' });
      expect(await feesOf(h.world, opened.player)).toEqual([]);
    });

    test('begin on a suspended challenge throws challenge_not_available', async () => {
      await using opened = await enter();
      const challenge = await h.world.newChallenge();
      const listed = (await opened.call('laurel.challenges()')) as { id: string }[];
      expect(listed.map(({ id }) => id)).toContain(challenge.id);
      expectStatus(200, await h.world.operator.updateChallenge(challenge.id, { status: 'suspended' }));
      const code = 'challenge_not_available';
      expect(await begin(opened, { challengeId: challenge.id })).toEqual(failure(code, code));
    });

    test('begin by a self-excluded player throws blocked', async () => {
      await using opened = await enter();
      const challenge = await h.world.newChallenge();
      const until = { self_excluded_until: '2999-01-01T00:00:00.000Z' };
      expectStatus(200, await h.world.operator.updateAccount(opened.player.accountId, until));
      expect(await begin(opened, { challengeId: challenge.id })).toEqual(failure('blocked', 'blocked'));
    });

    test('a code that is not listed throws unknown, with the server’s code', async () => {
      await using opened = await enter();
      expect(await begin(opened, { challengeId: randomUUID() })).toEqual(failure('unknown', 'not_found'));
      expect(await begin(opened, { challengeId: 'not a uuid' })).toMatchObject({ code: 'unknown' });
    });

    test('conflicts of the server keep their own codes', async () => {
      await using opened = await enter();
      const [challenge, rung] = [await h.world.newChallenge(), await h.world.newRound({ attempt_cap: 1 })];
      const won = await h.world.partner.createAttempt({ challenge_id: challenge.id, player_ref: opened.player.ref });
      expectStatus(200, await h.world.partner.reportOutcome(won.body.id, { score: 100 }));
      const claimed = 'challenge_already_claimed';
      expect(await begin(opened, { challengeId: challenge.id })).toEqual(failure(claimed, claimed));
      await h.world.playRound(rung.id, opened.player, 5);
      const capped = 'attempt_cap_reached';
      expect(await begin(opened, { roundId: rung.id })).toEqual(failure(capped, capped));
      expectStatus(200, await h.world.partner.closeEntries(rung.id));
      expect(await begin(opened, { roundId: rung.id })).toEqual(failure('entries_closed', 'entries_closed'));
    });

    test('one player’s arm is hidden from another player', async () => {
      await using opened = await enter();
      const init = (player: string) => opened.call(`laurel.init(${JSON.stringify({ endpoint: '/laurel', player })})`);
      const armed = { status: 'armed', target: { challengeId: randomUUID() } };
      await init('first');
      await opened.call(arm(armed.target));
      await init('second');
      expect(await opened.call('laurel.state')).toEqual({ status: 'idle' });
      await opened.page.reload();
      await init('second');
      expect(await opened.call('laurel.state')).toEqual({ status: 'idle' });
      await init('first');
      expect(await opened.call('laurel.state')).toEqual(armed);
    });

    describe('one arm is charged once', () => {
      test('a triple click charges one arm once', async () => {
        await using opened = await enter();
        const challenge = await h.world.newChallenge();
        await opened.call(arm({ challengeId: challenge.id }));
        const clicks = 'Promise.all([laurel.begin(), laurel.begin(), laurel.begin()])';
        const attempts = (await opened.call(clicks)) as { id: string }[];
        expect(new Set(attempts.map(({ id }) => id)).size).toBe(1);
        expect(await opened.call('laurel.begin()')).toMatchObject({ id: attempts[0]?.id });
        expect(await feesOf(h.world, opened.player)).toEqual(['-1.00']);
      });

      test('an arm is charged once although the reply is lost twice', async () => {
        await using opened = await enter();
        const round = await h.world.newRound();
        h.game.replies = 'lose';
        try {
          expect(await begin(opened, { roundId: round.id })).toEqual(failure('network'));
          expect(await opened.call('laurel.begin()')).toEqual(failure('network'));
        } finally {
          h.game.replies = 'pass';
        }
        const attempt = await opened.call('laurel.begin()');
        expect(attempt).toMatchObject({ status: 'open', tournament_round_id: round.id });
        expect(await feesOf(h.world, opened.player)).toEqual(['-1.00']);
      });

      test('an arm is charged once although the page is reloaded before the reply', async () => {
        await using opened = await enter();
        const challenge = await h.world.newChallenge();
        await opened.call(arm({ challengeId: challenge.id }));
        h.game.replies = 'hold';
        try {
          const paid = h.game.nextPayment();
          await opened.call('void laurel.begin().catch(() => {})');
          await paid;
        } finally {
          h.game.replies = 'pass';
        }
        await opened.page.reload();
        await opened.call(INIT);
        expect(await opened.call('laurel.state')).toEqual({
          status: 'unconfirmed',
          target: { challengeId: challenge.id },
        });
        expect(await opened.call('laurel.begin()')).toMatchObject({ status: 'open', challenge_id: challenge.id });
        expect(await feesOf(h.world, opened.player)).toEqual(['-1.00']);
      });

      test('the same arm id of two players creates two attempts', async () => {
        const [player, rival] = await Promise.all([h.world.newPlayer(), h.world.newPlayer()]);
        const challenge = await h.world.newChallenge();
        await using opened = await h.openPage();
        const body = JSON.stringify(JSON.stringify({ arm_id: 'a'.repeat(32), challenge_id: challenge.id }));
        const pay = `fetch('/laurel/attempts', { method: 'POST', headers: { 'content-type': 'application/json' },
        body: ${body} }).then((answer) => answer.json())`;
        await opened.signIn(player);
        const first = (await opened.call(pay)) as { id: string };
        await opened.signIn(rival);
        const second = (await opened.call(pay)) as { id: string };
        expect(second.id).not.toBe(first.id);
        const read = (id: string) => opened.call(`fetch('/laurel/attempts/${id}').then((answer) => answer.status)`);
        expect([await read(first.id), await read(second.id)]).toEqual([404, 200]);
        expect([await feesOf(h.world, player), await feesOf(h.world, rival)]).toEqual([['-1.00'], ['-1.00']]);
      });
    });

    test('result returns the prize of the outcome without the score', async () => {
      await using opened = await enter();
      const challenge = await h.world.newChallenge();
      const attempt = (await begin(opened, { challengeId: challenge.id })) as { id: string };
      await opened.call('void (globalThis.waiting = laurel.result())');
      expectStatus(200, await h.world.partner.reportOutcome(attempt.id, { score: 120 }));
      // The whole result: neither the score nor the player is in it.
      expect(await opened.call('globalThis.waiting')).toEqual({
        id: attempt.id,
        challenge_id: challenge.id,
        tournament_round_id: null,
        status: 'settled',
        fee_charged: '1.00',
        created_at: expect.any(String),
        outcome: {
          met_threshold: true,
          threshold_applied: challenge.threshold,
          recorded_at: expect.any(String),
          receipt_id: expect.any(String),
          award: { amount: '5.00', paid_at: expect.any(String) },
        },
      });
      expect(await opened.call('laurel.state.status')).toBe('ended');
    });

    test('a page on another port, which also gets the cookie, can neither read attempts nor pay', async () => {
      await using opened = await enter();
      const challenge = await h.world.newChallenge();
      await using other = createServer((_request, response) => response.setHeader('content-type', 'text/html').end());
      await once(other.listen(0, '127.0.0.1'), 'listening');
      await opened.page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}`);
      const before = h.game.requests.length;
      const read = `fetch('${h.game.url}/laurel/challenges', { credentials: 'include' }).then(() => 'read', () => 'refused')`;
      expect(await opened.page.evaluate(read)).toBe('refused');
      const body = JSON.stringify(JSON.stringify({ arm_id: 'b'.repeat(32), challenge_id: challenge.id }));
      const pay = `fetch('${h.game.url}/laurel/attempts', { method: 'POST', mode: 'no-cors', credentials: 'include',
      body: ${body} }).then(() => 'read', () => 'refused')`;
      expect(await opened.page.evaluate(pay)).toBe('refused');
      const refused = { cookie: true, status: 403 };
      expect(h.game.requests.slice(before)).toEqual([
        { method: 'GET', path: '/laurel/challenges', ...refused },
        { method: 'POST', path: '/laurel/attempts', ...refused },
      ]);
      expect(await feesOf(h.world, opened.player)).toEqual([]);
    });
  },
);
