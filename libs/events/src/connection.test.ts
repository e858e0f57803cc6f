import { expect, test } from 'vitest';
import { parseNatsUrl } from './connection.ts';

test.each([
  ['nats://127.0.0.1:4222', { servers: ['nats://127.0.0.1:4222'], user: undefined, password: undefined }],
  ['nats://[::1]:4222', { servers: ['nats://[::1]:4222'], user: undefined, password: undefined }],
  ['nats://challenge:s%40crt@a:4222', { servers: ['nats://a:4222'], user: 'challenge', password: 's@crt' }],
  [
    'nats://a:4222, nats://webhook:secret@b.data:4223',
    { servers: ['nats://a:4222', 'nats://b.data:4223'], user: 'webhook', password: 'secret' },
  ],
])('%s is parsed into servers without credentials, a user and a password', (url, parsed) => {
  expect(parseNatsUrl(url)).toEqual(parsed);
});
