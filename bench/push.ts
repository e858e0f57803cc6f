import { signWebhook } from '@laurel/signature';
import type { HttpAnswer, HttpConnection } from './http-connection.ts';

/** An integration to push outcomes to, and the secret that signs them. */
export interface PushTarget {
  readonly id: string;
  readonly secret: string;
}

/** Sends one signed push of a body. */
export function push(connection: HttpConnection, { id, secret }: PushTarget, body: string): Promise<HttpAnswer> {
  const signature = `x-service-signature: ${signWebhook(secret, Buffer.from(body))}\r\n`;
  return connection.send('POST', `/webhooks/integrations/${id}/outcome`, signature, body);
}
