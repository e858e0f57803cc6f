import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import express from 'express';
import { expect, test } from 'vitest';
import { createHttpServer, drain } from './http-server.ts';

test('a draining server closes a connection without a request and answers the requests in flight', async () => {
  const app = express();
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  app.get('/slow', async (_request, response) => {
    begun.resolve();
    await ended.promise;
    response.send('answered');
  });
  const server = createHttpServer(app);
  server.on('request', app);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const unused = connect(port, '127.0.0.1').resume();
  await once(unused, 'connect');
  const slow = fetch(`http://127.0.0.1:${port}/slow`);
  await begun.promise;

  const drained = drain(server);
  await once(unused, 'close');
  ended.resolve();
  const answer = await slow;
  expect([answer.status, await answer.text()]).toEqual([200, 'answered']);
  await drained;
});
