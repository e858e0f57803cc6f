/**
 * What a dry run shows for a descriptor and a sample: what each record would report, or the pointer
 * that failed.
 */
import { isRefused } from '@laurel/errors';
import type { RpcContext } from '@laurel/grpc';
import { type DryRunRequest, Transport } from '@laurel/proto/integration';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { createBodyScheduler } from '../domain/body-scheduler.ts';
import { dryRun } from './dry-run.ts';

const CONTEXT = { requestId: undefined, caller: undefined, signal: new AbortController().signal } satisfies RpcContext;
const { PUSH_WEBHOOK, PULL_POLL } = Transport;

const run = dryRun({ bodyScheduler: createBodyScheduler() });

function ask(request: Partial<DryRunRequest>) {
  return run({ transport: PUSH_WEBHOOK, descriptorJson: '{}', sampleJson: '{}', ...request }, CONTEXT);
}

async function answerTo(descriptor: object, sample: object | string, transport: Transport = PUSH_WEBHOOK) {
  const sampleJson = typeof sample === 'string' ? sample : JSON.stringify(sample);
  return expectAccepted(await ask({ transport, descriptorJson: JSON.stringify(descriptor), sampleJson }));
}

async function refusalOf(request: Partial<DryRunRequest>) {
  const answer = await ask(request);
  return isRefused(answer) ? [answer.code, answer.message] : answer;
}

function read(readJson: string) {
  return { $case: 'readJson', value: readJson };
}

describe('a record that can be read is shown as it would be reported', () => {
  it('a readable record is shown with its attempt and with every digit of its evidence', async () => {
    const id = newId();
    const sample = `{"attempt_id":"${id.toUpperCase()}","score":87.50,"evidence":{"seed": 12345678901234567891},"other":1}`;
    const value = `{"attempt":{"attempt_id":"${id}"},"score":87.5,"tiebreak":null,"dedupe":null,"evidence":{"seed": 12345678901234567891}}`;
    expect(await answerTo({}, sample)).toEqual({
      records: [{ index: 0, result: read(value) }],
      recordsFailure: undefined,
      nextPageJson: '',
    });
  });

  it.each([
    ['challenge_id', undefined, 'only'],
    ['tournament_round_id', 'oldest', 'oldest'],
  ] as const)(
    'a readable record is shown by its player and the %s, with the descriptor’s names',
    async (parent, pick, shown) => {
      const id = newId();
      const attempt = { player_ref: '/who', [parent]: { const: id }, ...(pick && { pick }) };
      const score = { pointer: '/points', as: 'numeric_string' };
      const descriptor = { version: 1, map: { attempt, score, tiebreak: '/ms', dedupe: '/run' } };
      const { records } = await answerTo(descriptor, { who: 'player-1', points: '12.5', ms: 61, run: 77 });
      const value = JSON.stringify({
        attempt: { player_ref: 'player-1', [parent]: id, pick: shown },
        score: 12.5,
        tiebreak: 61,
        dedupe: '77',
        evidence: null,
      });
      expect(records).toEqual([{ index: 0, result: read(value) }]);
    },
  );
});

it('each record of a list has its own result', async () => {
  const [first, last] = [newId(), newId()];
  const descriptor = {
    version: 1,
    map: {
      records: '/events',
      when: [{ pointer: '/type', in: ['finished'] }],
      attempt: { attempt_id: '/attempt' },
      score: '/run/points',
    },
  };
  const finished = (attempt: string, points: unknown) => ({ type: 'finished', attempt, run: { points } });
  const events = [finished(first, 1), { type: 'started' }, finished(newId(), '2'), finished(last, 3)];
  const { records, recordsFailure } = await answerTo(descriptor, { events });
  const failure = { pointer: '/run/points', field: 'map.score', message: 'must be a finite number' };
  expect(records).toEqual([
    { index: 0, result: read(expect.stringContaining(first)) },
    { index: 1, result: { $case: 'ignored', value: true } },
    { index: 2, result: { $case: 'failed', value: failure } },
    { index: 3, result: read(expect.stringContaining(last)) },
  ]);
  expect(recordsFailure).toBeUndefined();
});

describe('a sample whose records cannot be found shows why, and no record', () => {
  const inEvents = { version: 1, map: { records: '/events', attempt: { attempt_id: '/a' }, score: '/s' } };

  it.each([
    ['is not JSON', inEvents, '{"events":[}', '/events', expect.stringMatching(/JSON/)],
    ['has nothing at the pointer', inEvents, '{"runs":[]}', '/events', 'names nothing in the body'],
    ['has more records than a body may', {}, JSON.stringify(Array(101).fill({})), '', 'must have at most 100 records'],
  ])('a sample that %s shows why, and no record', async (_what, descriptor, sample, pointer, message) => {
    expect(await answerTo(descriptor, sample)).toEqual({
      records: [],
      recordsFailure: { pointer, field: 'map.records', message },
      nextPageJson: '',
    });
  });
});

it('a sample whose list is empty or null is an empty page', async () => {
  const descriptor = { version: 1, map: { records: '/events', attempt: { attempt_id: '/a' }, score: '/s' } };
  const empty = { records: [], recordsFailure: undefined, nextPageJson: '' };
  for (const events of [[], null]) expect(await answerTo(descriptor, { events })).toEqual(empty);
});

describe('the page after the sample', () => {
  const pullOf = (pull: object) => ({ version: 1, pull: { url: 'https://game.example/runs?v=2', ...pull } });
  const byCursor = pullOf({ paging: { type: 'cursor', param: 'after', pointer: '/next' } });
  const nextOf = async (descriptor: object, sample: object) =>
    (await answerTo(descriptor, sample, PULL_POLL)).nextPageJson;

  it('the page after the sample is shown with the URL and the cursor of its request', async () => {
    const next = JSON.parse(await nextOf(byCursor, { next: 'b 1' }));
    expect(next).toEqual({ url: 'https://game.example/runs?v=2&after=b+1', cursor: 'b 1' });
  });

  it('the dry run shows no next page after the last page, or without paging', async () => {
    expect(await nextOf(byCursor, { next: null })).toBe('');
    expect(await nextOf(pullOf({}), { next: 'b' })).toBe('');
  });

  it('a next page of another origin is shown as the pointer that failed', async () => {
    const byUrl = pullOf({ paging: { type: 'next_url', pointer: '/next' } });
    const next = JSON.parse(await nextOf(byUrl, { next: 'https://elsewhere.example/runs' }));
    expect(next).toEqual({
      failed: {
        pointer: '/next',
        field: 'pull.paging.pointer',
        message: 'must be a URL of the origin of `pull.url`',
      },
    });
  });
});

describe('a dry run is refused', () => {
  it('a dry run of a descriptor that could not be saved is refused', async () => {
    const misspelt = await refusalOf({ descriptorJson: '{"version":1,"mapping":{}}' });
    expect(misspelt).toEqual(['invalid_request', expect.stringContaining('`mapping`')]);
    const pulling = '{"version":1,"pull":{"url":"https://game.example/runs"}}';
    expect(await refusalOf({ descriptorJson: pulling })).toEqual([
      'invalid_request',
      expect.stringContaining('`pull`'),
    ]);
  });

  it('a dry run of a descriptor beyond its limits is refused with the name of the member', async () => {
    const evidence = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [index, '/e']));
    expect(await refusalOf({ descriptorJson: JSON.stringify({ version: 1, map: { evidence } }) })).toEqual([
      'invalid_request',
      'The descriptor is not valid: `map.evidence` has more than 100 members.',
    ]);
    const longUrl = JSON.stringify({ version: 1, pull: { url: `https://game.example/${'p'.repeat(2_048)}` } });
    expect(await refusalOf({ transport: PULL_POLL, descriptorJson: longUrl })).toEqual([
      'invalid_request',
      'pull.url: the URL must not be longer than 2048 characters with its query.',
    ]);
  });

  it('a dry run of a sample above 239 KiB is refused', async () => {
    const sampleOf = (bytes: number) => `"${'é'.repeat((bytes - 2) / 2)}"`;
    expect(expectAccepted(await ask({ sampleJson: sampleOf(239 * 1024) })).records).toHaveLength(1);
    const tooLarge = ['invalid_request', 'The sample is larger than 239 KiB.'];
    expect(await refusalOf({ sampleJson: sampleOf(239 * 1024 + 2) })).toEqual(tooLarge);
  });
});
