import { expect, test } from 'vitest';
import { createLogger } from './logger.ts';

function capture() {
  const lines: string[] = [];
  const logger = createLogger({ service: 'wallet', level: 'info', destination: { write: (line) => lines.push(line) } });
  return { logger, lines, last: () => JSON.parse(lines.at(-1) ?? 'null') as Record<string, unknown> };
}

test('a log line is JSON with its level, time, service and fields', () => {
  const { logger, last } = capture();
  logger.info({ attemptId: 'a' }, 'settled');
  expect(last()).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    service: 'wallet',
    attemptId: 'a',
    msg: 'settled',
  });
});

test('a line of a severity below the level is not logged', () => {
  const { logger, lines } = capture();
  logger.debug('quiet');
  expect(lines).toEqual([]);
});

test('values under secret keys are redacted at any depth', () => {
  const { logger, last } = capture();
  const fields = {
    headers: { Authorization: 'Bearer abc', 'x-api-key': 'key', accept: '*/*' },
    body: { players: [{ email: 'a@b', password: 'p', name: 'Ann' }], evidence: { replay: [1, 2] } },
    endpoint: { a: { b: { c: { signing_secret: 's', token: 't', kept: 1 } } } },
  };
  const before = structuredClone(fields);
  logger.child({ token: 't', requestId: 'r' }).info(fields, 'x');
  expect(last()).toMatchObject({
    requestId: 'r',
    token: '[redacted]',
    headers: { Authorization: '[redacted]', 'x-api-key': '[redacted]', accept: '*/*' },
    body: { players: [{ email: '[redacted]', password: '[redacted]', name: 'Ann' }], evidence: '[redacted]' },
    endpoint: { a: { b: { c: { signing_secret: '[redacted]', token: '[redacted]', kept: 1 } } } },
  });
  expect(fields).toEqual(before);
});

test('e-mail addresses and keys inside logged text are redacted', () => {
  const { logger, lines, last } = capture();
  const error = Object.assign(new Error('Key (email)=(ann.lee+x@example.co.uk) already exists'), {
    detail: 'for sk_live_Abc123',
    request: { headers: { authorization: 'Bearer abc' } },
  });
  logger.error({ err: error, at: new Date(0) }, 'whsec_00ff failed for bob@example.com');
  expect(last()).toMatchObject({
    at: '1970-01-01T00:00:00.000Z',
    msg: '[redacted] failed for [redacted]',
    err: {
      message: 'Key (email)=([redacted]) already exists',
      detail: 'for [redacted]',
      request: { headers: { authorization: '[redacted]' } },
    },
  });
  expect(lines.join()).not.toMatch(/ann\.lee|bob@|Abc123|00ff|Bearer/);
});

test('an object that contains itself is still logged', () => {
  const { logger, last } = capture();
  const loop: Record<string, unknown> = { name: 'loop', password: 'p' };
  loop.self = loop;
  logger.info({ loop }, 'x');
  expect(last()).toMatchObject({ msg: 'x', loop: { name: 'loop', password: '[redacted]' } });
  expect(JSON.stringify(last())).not.toContain('"p"');
});
