import { isRefused } from '@laurel/errors';
import { describe, expect, test } from 'vitest';
import { type Descriptor, parseDescriptor } from './descriptor.ts';
import { readBody } from './read-body.ts';

const ID = '018f6f7e-2a6b-8c1d-9e3f-5a4b3c2d1e0f';
const CHALLENGE = '018f6f7e-2a6b-7c1d-9e3f-5a4b3c2d1e10';

const OF_ATTEMPT = { attempt: { attempt_id: '/run/attempt' }, score: '/run/points' };
const OF_PLAYER = { attempt: { player_ref: '/who', challenge_id: { const: CHALLENGE } }, score: '/s', dedupe: '/id' };

function parsed(map?: object): Descriptor {
  const descriptor = parseDescriptor(map === undefined ? {} : { version: 1, map }, 'push_webhook');
  if (isRefused(descriptor)) throw new Error(descriptor.message);
  return descriptor;
}

const canonical = (rest: string) => `{"attempt_id":"${ID}",${rest}}`;
const run = (rest: string) => `{"run":{"attempt":"${ID}","points":1},${rest}}`;
const player = (rest: string) => `{"who":"p","s":1,${rest}}`;
const events = (records: string) => `{"events":${records}}`;
const many = (count: number) => `[${Array(count).fill(canonical('"score":1')).join(',')}]`;
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const evidenceOf = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`;

const report = { kind: 'report', attempt: { kind: 'id', attemptId: ID }, score: 1, evidenceJson: '', dedupe: null };
const ofPlayer = {
  ...report,
  attempt: { kind: 'player', playerRef: 'p', parent: { kind: 'challenge', id: CHALLENGE }, pick: 'only' },
  dedupe: 'e1',
};
const ofRound = (parent: object) => ({ ...ofPlayer, attempt: { ...ofPlayer.attempt, ...parent } });
const ignored = { kind: 'ignored' };
const failed = (pointer: string, field: string, message: string) => ({
  kind: 'unreadable',
  failure: { pointer, field, message },
});
const MISSING = 'names nothing in the record';
const NO_NUMBER = 'must be a finite number';
const NO_NUMERIC = 'must be a string that holds a finite number';
const NO_NAME = 'must be a string, or a whole number of at most 2^53 - 1';

const IN_STRING = { ...OF_ATTEMPT, score: { pointer: '/run/points', as: 'numeric_string' } };
const points = (text: string) => `{"run":{"attempt":"${ID}","points":${text}}}`;
const noNumeric = failed('/run/points', 'map.score', NO_NUMERIC);
const WITH_EVIDENCE = { ...OF_ATTEMPT, evidence: { replay: '/url', build: { const: 'b1' } } };
const FINISHED = { ...OF_ATTEMPT, when: [{ pointer: '/type', in: ['run.finished', 7, null] }] };
const TWO_CONDITIONS = {
  ...OF_ATTEMPT,
  when: [
    { pointer: '/type', in: ['end', 'finish'] },
    { pointer: '/ranked', in: [true] },
  ],
};
const LARGE = 'must have at most 64 KiB';

type Row = readonly [what: string, map: object | undefined, body: string, record: object];

describe('one record', () => {
  test.each<Row>([
    ['the canonical body', undefined, canonical('"score":1'), report],
    ['an id in upper case', undefined, `{"attempt_id":"${ID.toUpperCase()}","score":1}`, report],
    ['members that the canonical body does not have', undefined, canonical('"score":1,"win":true'), report],
    ['a tiebreak', undefined, canonical('"score":1,"tiebreak":-2.5'), { ...report, tiebreak: -2.5 }],
    ['a score of zero', undefined, canonical('"score":0'), { ...report, score: 0 }],
    ['an exponent', undefined, canonical('"score":1e2'), { ...report, score: 100 }],
    ['more digits than a double', undefined, canonical('"score":0.30000000000000004'), { ...report, score: 0.1 + 0.2 }],
    [
      'evidence with its spaces',
      undefined,
      canonical('"score":1,"evidence": { "a" :1 } '),
      { ...report, evidenceJson: '{ "a" :1 }' },
    ],
    [
      'evidence of many digits',
      undefined,
      canonical('"score":1,"evidence":{"seed":12345678901234567891}'),
      { ...report, evidenceJson: '{"seed":12345678901234567891}' },
    ],
    [
      'evidence with an escape',
      undefined,
      canonical('"score":1,"evidence":{"\\u0061":"\\/"}'),
      { ...report, evidenceJson: '{"\\u0061":"\\/"}' },
    ],
    [
      'evidence of 64 KiB',
      undefined,
      canonical(`"score":1,"evidence":${evidenceOf(65_536)}`),
      { ...report, evidenceJson: evidenceOf(65_536) },
    ],
    [
      'one byte more of evidence',
      undefined,
      canonical(`"score":1,"evidence":${evidenceOf(65_537)}`),
      failed('/evidence', 'map.evidence', LARGE),
    ],
    [
      'evidence that is a list',
      undefined,
      canonical('"score":1,"evidence":[]'),
      failed('/evidence', 'map.evidence', 'must be an object'),
    ],
    [
      'evidence that is null',
      undefined,
      canonical('"score":1,"evidence":null'),
      failed('/evidence', 'map.evidence', 'must be an object'),
    ],
    ['no attempt', undefined, '{"score":1}', failed('/attempt_id', 'map.attempt.attempt_id', MISSING)],
    [
      'an attempt that is not a uuid',
      undefined,
      '{"attempt_id":"a1","score":1}',
      failed('/attempt_id', 'map.attempt.attempt_id', 'must be a uuid'),
    ],
    [
      'an attempt that is a number',
      undefined,
      '{"attempt_id":5,"score":1}',
      failed('/attempt_id', 'map.attempt.attempt_id', 'must be a uuid'),
    ],
    ['no score', undefined, `{"attempt_id":"${ID}"}`, failed('/score', 'map.score', MISSING)],
    ['a score in a string', undefined, canonical('"score":"1"'), failed('/score', 'map.score', NO_NUMBER)],
    ['a score of null', undefined, canonical('"score":null'), failed('/score', 'map.score', NO_NUMBER)],
    ['a score of true', undefined, canonical('"score":true'), failed('/score', 'map.score', NO_NUMBER)],
    [
      'a tiebreak of null',
      undefined,
      canonical('"score":1,"tiebreak":null'),
      failed('/tiebreak', 'map.tiebreak', NO_NUMBER),
    ],
    ['a text', undefined, '"score"', failed('/attempt_id', 'map.attempt.attempt_id', MISSING)],
    ['a number', undefined, '7', failed('/attempt_id', 'map.attempt.attempt_id', MISSING)],
    ['false', undefined, 'false', failed('/attempt_id', 'map.attempt.attempt_id', MISSING)],
    [
      'a member of the prototype',
      { ...OF_ATTEMPT, score: '/constructor/length' },
      run('"a":1'),
      failed('/constructor/length', 'map.score', MISSING),
    ],
    ['a nested attempt and score', OF_ATTEMPT, run('"a":1'), report],
    ['an item of an array', { ...OF_ATTEMPT, score: '/scores/1' }, run('"scores":[5,1]'), report],
    [
      'an index with a leading zero',
      { ...OF_ATTEMPT, score: '/scores/01' },
      run('"scores":[5,1]'),
      failed('/scores/01', 'map.score', MISSING),
    ],
    [
      'the length of an array',
      { ...OF_ATTEMPT, score: '/scores/length' },
      run('"scores":[5,1]'),
      failed('/scores/length', 'map.score', MISSING),
    ],
    [
      'an item behind the end',
      { ...OF_ATTEMPT, score: '/scores/2' },
      run('"scores":[5,1]'),
      failed('/scores/2', 'map.score', MISSING),
    ],
    ['escaped names', { ...OF_ATTEMPT, score: '/a~1b/c~0d' }, run('"a/b":{"c~d":1}'), report],
    ['an empty name', { ...OF_ATTEMPT, score: '/' }, run('"":1'), report],
    ['a number in a string', IN_STRING, points('"1.50"'), { ...report, score: 1.5 }],
    ['a negative number in a string, with an exponent', IN_STRING, points('"-1.5E+2"'), { ...report, score: -150 }],
    ['a number where a string is expected', IN_STRING, points('1'), noNumeric],
    ['an empty string', IN_STRING, points('""'), noNumeric],
    ['spaces around the number', IN_STRING, points('" 1 "'), noNumeric],
    ['a plus sign', IN_STRING, points('"+1"'), noNumeric],
    ['a leading zero', IN_STRING, points('"01"'), noNumeric],
    ['hexadecimal digits', IN_STRING, points('"0x10"'), noNumeric],
    ['Infinity', IN_STRING, points('"Infinity"'), noNumeric],
    ['a string beyond the range of doubles', IN_STRING, points('"1e999"'), noNumeric],
    ['a decimal comma', IN_STRING, points('"1,5"'), noNumeric],
    [
      'a tiebreak in a string',
      { ...OF_ATTEMPT, tiebreak: { pointer: '/ms', as: 'numeric_string' } },
      run('"ms":"61"'),
      { ...report, tiebreak: 61 },
    ],
    [
      'evidence with the descriptor’s names',
      WITH_EVIDENCE,
      run('"url" : "https:\\/\\/a"'),
      { ...report, evidenceJson: '{"replay":"https:\\/\\/a","build":"b1"}' },
    ],
    [
      'a member of evidence that is missing',
      WITH_EVIDENCE,
      run('"a":1'),
      { ...report, evidenceJson: '{"build":"b1"}' },
    ],
    ['all members of evidence missing', { ...OF_ATTEMPT, evidence: { replay: '/url' } }, run('"a":1'), report],
    [
      'evidence of null',
      { ...OF_ATTEMPT, evidence: { replay: '/url' } },
      run('"url":null'),
      { ...report, evidenceJson: '{"replay":null}' },
    ],
    [
      'the whole record as evidence',
      { ...OF_ATTEMPT, evidence: '' },
      run('"a":1'),
      { ...report, evidenceJson: run('"a":1') },
    ],
    ['an accepted type', FINISHED, run('"type":"run.finished"'), report],
    ['a type that is a number', FINISHED, run('"type":7'), report],
    ['a type that is null', FINISHED, run('"type":null'), report],
    ['another type', FINISHED, run('"type":"run.began"'), ignored],
    ['a type that looks like an accepted one', FINISHED, run('"type":"7"'), ignored],
    ['no type', FINISHED, run('"a":1'), ignored],
    ['another type without a score', FINISHED, '{"type":"run.began"}', ignored],
    ['two conditions that hold', TWO_CONDITIONS, run('"type":"end","ranked":true'), report],
    ['two conditions, of which one does not hold', TWO_CONDITIONS, run('"type":"end","ranked":false'), ignored],
    ['a condition on true, and a text', TWO_CONDITIONS, run('"type":"end","ranked":"true"'), ignored],
    ['a player and a constant challenge', OF_PLAYER, player('"id":"e1"'), ofPlayer],
    [
      'the oldest attempt',
      { ...OF_PLAYER, attempt: { ...OF_PLAYER.attempt, pick: 'oldest' } },
      player('"id":"e1"'),
      ofRound({ pick: 'oldest' }),
    ],
    [
      'a round in the record',
      { ...OF_PLAYER, attempt: { player_ref: '/who', tournament_round_id: '/round' } },
      player(`"id":"e1","round":"${ID}"`),
      ofRound({ parent: { kind: 'round', id: ID } }),
    ],
    [
      'a round that is not a uuid',
      { ...OF_PLAYER, attempt: { player_ref: '/who', tournament_round_id: '/round' } },
      player('"id":"e1","round":"r"'),
      failed('/round', 'map.attempt.tournament_round_id', 'must be a uuid'),
    ],
    [
      'a player whose name is a number',
      OF_PLAYER,
      '{"who":17,"s":1,"id":9}',
      { ...ofRound({ playerRef: '17' }), dedupe: '9' },
    ],
    [
      'a number whose digits a double does not keep',
      OF_PLAYER,
      '{"who":9007199254740993,"s":1,"id":9}',
      failed('/who', 'map.attempt.player_ref', NO_NAME),
    ],
    [
      'a player of 256 characters',
      OF_PLAYER,
      `{"who":"${'x'.repeat(256)}","s":1,"id":9}`,
      failed('/who', 'map.attempt.player_ref', 'must have 1 to 255 characters and no NUL'),
    ],
    [
      'a player with NUL',
      OF_PLAYER,
      '{"who":"\\u0000","s":1,"id":9}',
      failed('/who', 'map.attempt.player_ref', 'must have 1 to 255 characters and no NUL'),
    ],
    [
      'evidence with NUL',
      { ...OF_ATTEMPT, evidence: '/e' },
      run('"e":{"a":["\\u0000"]}'),
      failed('', 'map.records', 'must have no text with NUL'),
    ],
    [
      'NUL in a part that is not read',
      OF_ATTEMPT,
      run('"e":{"\\u0000":1}'),
      failed('', 'map.records', 'must have no text with NUL'),
    ],
    ['no dedupe', OF_PLAYER, player('"a":1'), failed('/id', 'map.dedupe', MISSING)],
    ['an empty dedupe', OF_PLAYER, player('"id":""'), failed('/id', 'map.dedupe', 'must have 1 to 255 characters')],
    [
      'a dedupe of 255 characters',
      OF_PLAYER,
      player(`"id":"${'😀'.repeat(255)}"`),
      { ...ofPlayer, dedupe: '😀'.repeat(255) },
    ],
    [
      'a dedupe of 256 characters',
      OF_PLAYER,
      player(`"id":"${'😀'.repeat(256)}"`),
      failed('/id', 'map.dedupe', 'must have 1 to 255 characters'),
    ],
    ['a dedupe that is an object', OF_PLAYER, player('"id":{}'), failed('/id', 'map.dedupe', NO_NAME)],
    ['a dedupe that is a fraction', OF_PLAYER, player('"id":1.5'), failed('/id', 'map.dedupe', NO_NAME)],
    ['records that is one object', { ...OF_ATTEMPT, records: '/events' }, events(run('"a":1')), report],
  ])('%s', (_what, map, body, record) => {
    expect(readBody(parsed(map), Buffer.from(body))).toEqual({ kind: 'single', record });
  });
});

describe('a list of records', () => {
  const COLUMNS = { records: '/rows', attempt: { attempt_id: '/0' }, score: '/1' };

  test.each<readonly [what: string, map: object | undefined, body: string, records: readonly object[]]>([
    ['no record', undefined, '[]', []],
    ['null for the whole list', undefined, 'null', []],
    ['a list that is null', { ...OF_ATTEMPT, records: '/events' }, events('null'), []],
    ['an empty list', { ...OF_ATTEMPT, records: '/events' }, events('[]'), []],
    ['a list that is absent', { ...OF_ATTEMPT, records: '/events' }, '{}', []],
    ['a list that is a member of null', { ...OF_ATTEMPT, records: '/data/events' }, '{"data":null}', []],
    [
      'null among records, which is not a record',
      undefined,
      `[null,${canonical('"score":1')}]`,
      [failed('/attempt_id', 'map.attempt.attempt_id', MISSING), report],
    ],
    ['100 records', undefined, many(100), Array(100).fill(report)],
    [
      'an invalid record between two',
      undefined,
      `[${canonical('"score":1')},7,${canonical('"score":1')}]`,
      [report, failed('/attempt_id', 'map.attempt.attempt_id', MISSING), report],
    ],
    [
      'evidence of each record',
      undefined,
      `[${canonical('"score":1,"evidence":{"a": 1}')} , ${canonical('"score":1,"evidence":{"b":2 }')}]`,
      [
        { ...report, evidenceJson: '{"a": 1}' },
        { ...report, evidenceJson: '{"b":2 }' },
      ],
    ],
    ['records that are lists', COLUMNS, `{"rows":[["${ID}",1],["${ID}",2]]}`, [report, { ...report, score: 2 }]],
    [
      'some that `when` excludes',
      { ...FINISHED, records: '/events' },
      events(`[${run('"type":"x"')},${run('"type":7')}]`),
      [ignored, report],
    ],
  ])('%s', (_what, map, body, records) => {
    expect(readBody(parsed(map), Buffer.from(body))).toEqual({ kind: 'batch', records });
  });
});

describe('a body that is refused as a whole', () => {
  test.each<readonly [what: string, map: object | undefined, body: string | Buffer, message: string]>([
    ['an empty body', undefined, '', 'The body is not valid JSON.'],
    ['invalid JSON', undefined, '{', 'The body is not valid JSON.'],
    ['invalid UTF-8', undefined, Buffer.from([0x22, 0xff, 0x22]), 'The body is not valid UTF-8.'],
    ['a member twice', undefined, canonical('"score":1,"score":2'), 'The member `score` stands twice.'],
    [
      'a number beyond the doubles',
      undefined,
      canonical('"score":1e999'),
      'The body holds a number beyond the range of a double.',
    ],
    ['65 levels', undefined, canonical(`"score":1,"evidence":${nested(64)}`), 'The body nests deeper than 64 levels.'],
    ['101 records', undefined, many(101), 'The body must have at most 100 records.'],
  ])('%s', (_what, map, body, message) => {
    expect(readBody(parsed(map), body)).toMatchObject({ kind: 'refused', code: 'invalid_request', message });
  });
});

describe('the evidence of a body', () => {
  const members = (count: number, source: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [index, source]));
  const kindsOf = (map: object, body: string) => {
    const read = readBody(parsed(map), body);
    if (read.kind !== 'batch') throw new Error('a list is a batch');
    return read.records.map(({ kind }) => kind);
  };

  test('evidence of 1,400 members that share one large value is refused', () => {
    const map = { ...OF_ATTEMPT, evidence: members(1_400, '/e') };
    const read = readBody(parsed(map), run(`"e":"${'x'.repeat(250_000)}"`));
    expect(read).toEqual({ kind: 'single', record: failed('', 'map.evidence', LARGE) });
  });

  test('the evidence of a body may have four times the body’s size and 64 KiB', () => {
    const map = { ...OF_ATTEMPT, evidence: { build: { const: 'c'.repeat(10_000) } } };
    const body = `[${Array(20).fill(run('"a":1')).join(',')}]`;
    const whole = Math.floor((4 * body.length + 65_536) / '{"build":""}'.padEnd(10_012).length);
    expect(whole).toBeGreaterThan(5);
    expect(kindsOf(map, body)).toEqual([...Array(whole).fill('report'), ...Array(20 - whole).fill('unreadable')]);
  });

  test('a hundred records may each have the most evidence that one record may have', () => {
    const map = { ...OF_ATTEMPT, evidence: { all: '', again: '/note', build: { const: '1.4' } } };
    expect(
      kindsOf(
        map,
        `[${Array(100)
          .fill(run(`"note":"${'n'.repeat(2_400)}"`))
          .join(',')}]`,
      ),
    ).toEqual(Array(100).fill('report'));
  });
});
