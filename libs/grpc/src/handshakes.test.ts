import { createServer } from 'node:tls';
import { afterEach, expect, test, vi } from 'vitest';
import { watchHandshakes } from './handshakes.ts';

afterEach(() => vi.useRealTimers());

test('at most one failed TLS handshake a second is logged', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const logged: object[] = [];
  const server = createServer();
  const warn = (fields: object) => void logged.push(fields);
  watchHandshakes(server, { warn, error: warn });
  const fail = () =>
    server.emit('tlsClientError', Object.assign(new Error('no'), { code: 'ECONNRESET' }), {
      remoteAddress: '10.0.0.1',
    });

  for (let count = 0; count < 1_000; count += 1) fail();
  const line = { reason: 'ECONNRESET' };
  expect(logged).toEqual([{ ...line, unlogged: 0 }]);
  vi.advanceTimersByTime(999);
  fail();
  expect(logged).toHaveLength(1);
  vi.advanceTimersByTime(1);
  fail();
  expect(logged).toEqual([
    { ...line, unlogged: 0 },
    { ...line, unlogged: 1_000 },
  ]);
});
