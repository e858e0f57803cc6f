import { cents } from '@laurel/values/money';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { composeBody, composeTestBody, type Fact } from './envelope.ts';

const ATTEMPT = '01900000-0000-7000-8000-000000000001';
const CHALLENGE = '01900000-0000-7000-8000-000000000002';
const ROUND = '01900000-0000-7000-8000-000000000003';
const AWARD = '01900000-0000-7000-8000-000000000004';
const TOURNAMENT = '01900000-0000-7000-8000-000000000005';
const AT = new Date('2026-03-04T05:06:07.089Z');

const win: Fact = {
  type: 'attempt.settled',
  attemptId: ATTEMPT,
  challengeId: CHALLENGE,
  tournamentRoundId: null,
  playerRef: 'Zoë "z" \u2028 🂡',
  score: 1234.5,
  metThreshold: true,
  award: { id: AWARD, amountCents: cents(1_010n), payoutStatus: 'held' },
  recordedAt: AT,
};

const textOf = (fact: Fact, isSandbox = false) => composeBody(fact, { occurredAt: AT, isSandbox }).toString('utf8');

describe('the bytes of a webhook body', () => {
  test.each<[Fact['type'], Fact, string]>([
    [
      'attempt.settled',
      win,
      `{"attempt_id":"${ATTEMPT}","challenge_id":"${CHALLENGE}","tournament_round_id":null,"player_ref":"Zoë \\"z\\" \u2028 🂡",` +
        `"score":1234.5,"met_threshold":true,"award":{"id":"${AWARD}","amount":10.10,"payout_status":"held"},` +
        `"recorded_at":"2026-03-04T05:06:07.089Z"}`,
    ],
    [
      'attempt.settled',
      {
        ...win,
        playerRef: 'p',
        challengeId: null,
        tournamentRoundId: ROUND,
        score: -0.25,
        metThreshold: false,
        award: null,
      },
      `{"attempt_id":"${ATTEMPT}","challenge_id":null,"tournament_round_id":"${ROUND}","player_ref":"p","score":-0.25,` +
        `"met_threshold":false,"award":null,"recorded_at":"2026-03-04T05:06:07.089Z"}`,
    ],
    [
      'attempt.refunded',
      {
        type: 'attempt.refunded',
        attemptId: ATTEMPT,
        challengeId: null,
        tournamentRoundId: ROUND,
        playerRef: 'p',
        amountCents: cents(5n),
        reason: 'round_cancelled',
      },
      `{"attempt_id":"${ATTEMPT}","challenge_id":null,"tournament_round_id":"${ROUND}","player_ref":"p","amount":0.05,` +
        `"reason":"round_cancelled"}`,
    ],
    [
      'challenge.suspended',
      { type: 'challenge.suspended', challengeId: CHALLENGE, name: 'Hard\nmode' },
      `{"challenge_id":"${CHALLENGE}","name":"Hard\\nmode"}`,
    ],
    [
      'round.settled',
      {
        type: 'round.settled',
        tournamentRoundId: ROUND,
        tournamentId: TOURNAMENT,
        rankedPlayers: 12,
        purseCents: cents(90_071_992_547_409_93n),
      },
      `{"tournament_round_id":"${ROUND}","tournament_id":"${TOURNAMENT}","ranked_players":12,"purse":90071992547409.93}`,
    ],
    [
      'round.cancelled',
      { type: 'round.cancelled', tournamentRoundId: ROUND, tournamentId: TOURNAMENT },
      `{"tournament_round_id":"${ROUND}","tournament_id":"${TOURNAMENT}"}`,
    ],
    [
      'award.released',
      {
        type: 'award.released',
        awardId: AWARD,
        amountCents: cents(2_500n),
        attemptId: ATTEMPT,
        challengeId: CHALLENGE,
        tournamentRoundId: null,
        playerRef: 'p',
      },
      `{"award":{"id":"${AWARD}","amount":25.00,"payout_status":"paid"},"attempt_id":"${ATTEMPT}","challenge_id":"${CHALLENGE}",` +
        `"tournament_round_id":null,"player_ref":"p"}`,
    ],
  ])('the bytes of the body of %s', (type, fact, data) => {
    expect(textOf(fact)).toBe(`{"event":"${type}","timestamp":"2026-03-04T05:06:07.089Z","data":${data}}`);
  });

  test('the bytes of the body of webhook.test', () => {
    expect(composeTestBody(AT, 'Hello').toString('utf8')).toBe(
      '{"event":"webhook.test","timestamp":"2026-03-04T05:06:07.089Z","data":{"message":"Hello"}}',
    );
  });
});

test('the body of a sandbox event differs from a live one only in "test": true', () => {
  const live = JSON.parse(textOf(win));
  expect(JSON.parse(textOf(win, true))).toEqual({ ...live, data: { ...live.data, test: true } });
});

test('every amount of a body is a JSON number that parses to exactly its cents', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 14n }), (amount) => {
      const text = textOf({
        type: 'round.settled',
        tournamentRoundId: ROUND,
        tournamentId: TOURNAMENT,
        rankedPlayers: 0,
        purseCents: cents(amount),
      });
      const written = /"purse":(\d+)\.(\d\d)\}/.exec(text);
      expect(BigInt(`${written?.[1]}${written?.[2]}`)).toBe(amount);
      expect(JSON.parse(text).data.purse).toBe(Number(amount) / 100);
    }),
  );
});

test('every text and score of a body parses from JSON unchanged', () => {
  const texts = fc.string({ unit: 'grapheme' });
  const scores = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(texts, scores, (playerRef, score) => {
      const { data } = JSON.parse(textOf({ ...win, playerRef, score }));
      expect([data.player_ref, data.score]).toEqual([playerRef, score + 0]);
    }),
  );
});
