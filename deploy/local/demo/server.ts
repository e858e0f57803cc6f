/**
 * The HTTPS server of the demo's partner, at the address where the stack's services reach this
 * machine. The stack trusts its certificate.
 */
import { timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { WebhookCa } from '../stack/webhook-ca.ts';

interface DemoServer extends AsyncDisposable {
  readonly origin: string;
}

export async function startDemoServer(
  files: WebhookCa,
  answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
): Promise<DemoServer> {
  const certificate = { cert: readFileSync(files.receiver_certificate), key: readFileSync(files.receiver_key) };
  const server = createServer(certificate, answer);
  const { receiver_host: host } = files;
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return {
    origin: `https://${host}:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Compares a value in a request with the expected one, in constant time. */
export function isEqual(given: string | undefined, expected: string): boolean {
  const [sent, due] = [Buffer.from(given ?? ''), Buffer.from(expected)];
  return sent.length === due.length && timingSafeEqual(sent, due);
}
