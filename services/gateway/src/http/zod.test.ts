import { describe, expect, test } from 'vitest';
import { createAttemptBody, reportOutcomeBody } from '../routes/v1/attempt-schemas.ts';
import { listChallengesQuery } from '../routes/v1/challenge-schemas.ts';
import { linkPlayerBody } from '../routes/v1/player-schemas.ts';
import { z } from './zod.ts';

function sayOf(schema: z.ZodType, input: unknown): readonly string[] {
  const result = schema.safeParse(input);
  return result.success
    ? []
    : result.error.issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(' '));
}

const ID = '018f6f7e-2a6b-7c1d-9e3f-5a4b3c2d1e0f';

describe('validation messages for bodies of /v1', () => {
  test.each<[z.ZodType, unknown, readonly string[]]>([
    [reportOutcomeBody, {}, ['score is missing']],
    [reportOutcomeBody, { score: null }, ['score must be a finite number']],
    [reportOutcomeBody, { score: '1' }, ['score must be a finite number']],
    [reportOutcomeBody, { score: Number.NaN }, ['score must be a finite number']],
    [reportOutcomeBody, { score: 1, tiebreak: 'x' }, ['tiebreak must be a finite number']],
    [reportOutcomeBody, { score: 1, evidence: [] }, ['evidence must be an object']],
    [reportOutcomeBody, [], ['must be an object']],
    [reportOutcomeBody, 'x', ['must be an object']],
    [linkPlayerBody, {}, ['player_ref is missing', 'email is missing']],
    [linkPlayerBody, { player_ref: '', email: 'x' }, ['player_ref must not be empty']],
    [linkPlayerBody, { player_ref: 7, email: 'x' }, ['player_ref must be a string']],
    [linkPlayerBody, { player_ref: 'p'.repeat(256), email: 'x' }, ['player_ref must have at most 255 characters']],
    [linkPlayerBody, { player_ref: 'p', email: 'a\0b' }, ['email must not contain NUL']],
    [createAttemptBody, { player_ref: 'p' }, ['must have exactly one of `challenge_id` and `tournament_round_id`']],
    [
      createAttemptBody,
      { player_ref: 'p', challenge_id: ID, tournament_round_id: ID },
      ['must have exactly one of `challenge_id` and `tournament_round_id`'],
    ],
    [createAttemptBody, { player_ref: 'p', challenge_id: 'x' }, ['challenge_id must be a uuid']],
    [createAttemptBody, { player_ref: 'p', challenge_id: null }, ['challenge_id must be a string']],
    [createAttemptBody, { challenge_id: ID }, ['player_ref is missing']],
    [listChallengesQuery, {}, ['player_ref is missing']],
    [listChallengesQuery, { player_ref: 'p', status: 'live' }, ['status must be `all`, or absent']],
  ])(
    'validation message %# for a body of /v1 is a sentence after the name of the field',
    (schema, input, sentences) => {
      expect(sayOf(schema, input)).toEqual(sentences);
    },
  );
});

describe('validation messages for other schemas', () => {
  test.each<[z.ZodType, unknown, string]>([
    [z.boolean(), 1, 'must be true or false'],
    [z.int(), 1.5, 'must be a whole number'],
    [z.int().min(1), 0, 'must be at least 1'],
    [z.number().gt(1), 1, 'must be more than 1'],
    [z.number().max(3), 4, 'must be at most 3'],
    [z.number().lt(3), 3, 'must be less than 3'],
    [z.string().min(3), 'x', 'must have at least 3 characters'],
    [z.string().max(1), 'xx', 'must have at most 1 character'],
    [z.array(z.string()).min(1), [], 'must have at least 1 item'],
    [z.array(z.string()), {}, 'must be a list'],
    [z.enum(['a', 'b', 'c']), 'd', 'must be `a`, `b` or `c`'],
    [z.enum(['a', 'b']), undefined, 'is missing'],
    [z.union([z.string(), z.number()]), undefined, 'is missing'],
    [z.email(), 'x', 'must be an e-mail address'],
    [z.email(), undefined, 'is missing'],
    [z.iso.datetime({ offset: true }), 'x', 'must be an ISO 8601 instant with an offset'],
    [z.strictObject({ a: z.string() }), { a: 'x', b: 1, c: 2 }, 'must not have `b` and `c`'],
    [
      z.strictObject({}),
      Object.fromEntries(Array.from({ length: 26_000 }, (_, index) => [`${index}${'x'.repeat(50)}`, 1])),
      `must not have ${[0, 1, 2].map((index) => `\`${`${index}${'x'.repeat(50)}`.slice(0, 40)}\``).join(', ')} and 25997 others`,
    ],
  ])('validation message %# for another schema is a sentence, too', (schema, input, sentence) => {
    expect(sayOf(schema, input)).toEqual([sentence]);
  });
});
