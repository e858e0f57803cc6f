import { createCertificateAuthority } from '@laurel/local-infrastructure/certificate-authority';
import { Agent, request } from 'undici';
import { afterAll, expect, test } from 'vitest';
import { startReceiver } from './receiver.ts';

const ca = await createCertificateAuthority();
const client = new Agent({ connect: { ca: ca.certificate } });
afterAll(() => client.destroy());

const post = (url: string, body: string, headersTimeout = 5_000) =>
  request(url, { method: 'POST', body, headers: { 'X-Some-Header': 'value' }, dispatcher: client, headersTimeout });

test('a receiver records its requests byte for byte', async () => {
  await using receiver = await startReceiver({ ca });
  const third = receiver.nth(3);
  const first = await post(`${receiver.url}/webhooks?a=1`, '{"a": 1}');
  expect([first.statusCode, await first.body.text()]).toEqual([200, '']);
  receiver.answerWith(({ path }) => ({ status: path === '/gone' ? 410 : 202, body: `got ${path}` }));
  const second = await post(`${receiver.url}/gone`, '');
  expect([second.statusCode, await second.body.text()]).toEqual([410, 'got /gone']);
  await (await post(`${receiver.url}/other`, 'é')).body.dump();

  expect(await third).toMatchObject({ number: 3, method: 'POST', path: '/other', body: Buffer.from('é') });
  expect(receiver.requests).toHaveLength(3);
  expect(receiver.requests[0]?.rawHeaders).toContain('X-Some-Header');
  expect(await receiver.find(({ path }) => path === '/gone')).toBe(receiver.requests[1]);
  expect(receiver.connections()).toBeLessThanOrEqual(2);
});

test('a receiver can delay, omit or reset a response', async () => {
  const released = Promise.withResolvers<void>();
  await using receiver = await startReceiver({ ca, answer: { status: 204, after: released.promise } });
  const late = post(receiver.url, 'late');
  await receiver.nth(1);
  released.resolve();
  expect((await late).statusCode).toBe(204);

  receiver.answerWith('reset');
  await expect(post(receiver.url, 'reset')).rejects.toMatchObject({ code: 'ECONNRESET' });
  receiver.answerWith('never');
  await expect(post(receiver.url, 'never', 100)).rejects.toMatchObject({ code: 'UND_ERR_HEADERS_TIMEOUT' });
  receiver.answerWith({ body: 'begun', isEndless: true });
  const endless = await post(receiver.url, 'endless');
  for await (const chunk of endless.body) {
    expect(String(chunk)).toBe('begun');
    break;
  }
});

test('a stopped receiver starts again on its port', async () => {
  const first = await startReceiver({ ca });
  await first[Symbol.asyncDispose]();
  await expect(post(first.url, 'unread')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await using second = await startReceiver({ ca, port: first.port });
  expect((await post(first.url, 'again')).statusCode).toBe(200);
  expect(second.requests).toHaveLength(1);
});

test('waiting for a request of a receiver fails after the given time', async () => {
  await using receiver = await startReceiver({ ca });
  await expect(receiver.nth(1, 20)).rejects.toThrow('none of the 0 requests within 20 ms was the awaited one');
});

test('a receiver’s certificate that has expired or names another host is refused', async () => {
  await using expired = await startReceiver({ ca, notAfter: new Date(Date.now() - 60_000) });
  await expect(post(expired.url, '')).rejects.toMatchObject({ code: 'CERT_HAS_EXPIRED' });
  await using other = await startReceiver({ ca, names: ['receiver.example'] });
  await expect(post(other.url, '')).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  expect([expired.requests, other.requests]).toEqual([[], []]);
});
