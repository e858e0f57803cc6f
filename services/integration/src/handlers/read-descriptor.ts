/** Reads a descriptor that a partner sent: checks it and its URL, and separates its secret. */
import type { UrlCheck } from '@laurel/egress';
import { isRefused, type Refused, refused } from '@laurel/errors';
import { parseJson } from '@laurel/json';
import { type Pull, parseSentDescriptor } from '../domain/descriptor.ts';
import type { Transport } from '../domain/integration.ts';
import { checkFirstRequest } from '../domain/paging.ts';
import { withoutPullSecret } from '../domain/pull-secret.ts';

export type SentDescriptor = {
  /** The text to store, without the secret. */
  readonly text: string;
  readonly pull: Pull | null;
};

export async function readDescriptor(
  text: string,
  transport: Transport,
  checkUrl: UrlCheck,
): Promise<SentDescriptor | Refused> {
  const descriptor = parseSentDescriptor(text, transport);
  if (isRefused(descriptor)) return descriptor;
  const { pull } = descriptor;
  if (pull !== null) {
    const url = await checkUrl(pull.url);
    if (isRefused(url)) return refused('invalid_request', `pull.url: ${url.message}`);
    const issue = checkFirstRequest(pull);
    if (issue !== null) return refused('invalid_request', issue);
  }
  return { text: withoutPullSecret(descriptor, parseJson(text)), pull };
}
