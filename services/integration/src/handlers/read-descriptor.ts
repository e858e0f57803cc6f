/** A descriptor as a partner sent it: validated, its URL checked, its secret split off. */
import type { UrlCheck } from '@laurel/egress';
import { isRefused, type Refused, refused } from '@laurel/errors';
import { parseStrictJson } from '@laurel/json';
import { parseDescriptor } from '../domain/descriptor.ts';
import type { Transport } from '../domain/integration.ts';
import { type SplitDescriptor, splitPullSecret } from '../domain/pull-secret.ts';

export async function readDescriptor(
  text: string,
  transport: Transport,
  checkUrl: UrlCheck,
): Promise<SplitDescriptor | Refused> {
  const json = parseStrictJson(Buffer.from(text));
  if (json.kind === 'invalid') return refused('invalid_request', `descriptor: ${json.message}`);
  const descriptor = parseDescriptor(json.value, transport);
  if (isRefused(descriptor)) return descriptor;
  const split = splitPullSecret(json.value as object);
  if (split.pull.url === null) return split;
  const url = await checkUrl(split.pull.url);
  return isRefused(url) ? refused('invalid_request', `pull.url: ${url.message}`) : split;
}
