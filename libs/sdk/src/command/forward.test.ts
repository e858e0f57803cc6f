import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { forward } from './forward.ts';

describe('forward', () => {
  it('an abort signal ends a delivery under way before the receiver has responded', async () => {
    const silent = createServer();
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    try {
      const stopping = new AbortController();
      const event = { id: 'event-1', event: 'attempt.settled', created_at: '', body: '{}', cursor: 'c' } as const;
      const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
      const forwarded = forward(event, url, 'whsec_0123', stopping.signal);
      const stopped = expect(forwarded).rejects.toThrow('stopped');
      await once(silent, 'request');
      stopping.abort(new Error('stopped'));
      await stopped;
      await expect(forward(event, url, 'whsec_0123', stopping.signal)).rejects.toThrow('stopped');
    } finally {
      silent.closeAllConnections();
      silent.close();
    }
  });
});
