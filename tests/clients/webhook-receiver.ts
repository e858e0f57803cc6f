/**
 * A developer's server, which verifies each webhook with the SDK and responds with a status that
 * the test sets.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type VerifiedWebhook, verifyWebhook, WebhookVerificationError } from '@laurel/sdk';

export interface ReceivedWebhook extends VerifiedWebhook {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string;
  /** The genuine webhooks, in the order of their arrival. */
  readonly received: readonly ReceivedWebhook[];
  /** Why the other requests were refused. */
  readonly refusals: readonly string[];
  /** Sets the response to later genuine webhooks: 204 by default, no response for `null`. */
  answer(status: number | null): void;
}

export async function startWebhookReceiver(secret: string, port = 0): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const refusals: string[] = [];
  let status: number | null = 204;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    try {
      const verified = await verifyWebhook({ body, headers: request.headers, secrets: [secret] });
      received.push({ ...verified, headers: request.headers, body });
      if (status !== null) response.writeHead(status).end();
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
      refusals.push(error.reason);
      response.writeHead(400).end();
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    received,
    refusals,
    answer(next) {
      status = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
