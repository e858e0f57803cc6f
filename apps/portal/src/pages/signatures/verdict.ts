/**
 * Judges a webhook by its body, its headers and the secrets that may have signed it, and names what
 * is wrong. Sends and stores nothing.
 */
import { signWebhook } from '@laurel/sdk';
import { type Finding, wordsOf } from './findings.ts';
import { type HeaderValues, readHeaders } from './read-headers.ts';
import { signatureFindings } from './signature-findings.ts';
import { standardFindings } from './standard-findings.ts';

export interface CheckedWebhook {
  readonly body: string;
  /** The headers are as pasted. */
  readonly headers: string;
  /** The secrets, one in each line. */
  readonly secrets: string;
  /** The body in the delivery log, where the developer came from there. */
  readonly sentBody?: string | undefined;
}

export interface Verdict {
  readonly result: 'incomplete' | 'genuine' | 'refused';
  /** The most important first, at least one. */
  readonly findings: readonly Finding[];
  /** The right `X-Webhook-Signature` of this body, under the first secret. */
  readonly expected: string | null;
}

/** Signatures of other webhooks, and of outcomes that a partner pushes. */
const OTHER_HEADERS = [
  'x-service-signature',
  'x-laurel-signature',
  'x-hub-signature-256',
  'x-signature',
  'stripe-signature',
  'svix-signature',
  'signature',
];

export async function judgeWebhook(webhook: CheckedWebhook, now: number): Promise<Verdict> {
  // Half of a surrogate pair has no bytes, and no signature is over its replacement.
  const body = webhook.body.toWellFormed();
  const lines = webhook.secrets.toWellFormed().split(/\r?\n/);
  const secrets = lines.filter((line) => line.trim() !== '');
  const missing = missingOf(webhook, secrets);
  if (missing.length > 0) return { result: 'incomplete', findings: missing, expected: null };

  const headers = readHeaders(webhook.headers);
  const found = await signatureFindings(body, headers, secrets);
  // If both signatures are of other bytes, the finding on the first one already gives the reason.
  const standard = (await standardFindings(body, headers, secrets, now)).filter(
    ({ code }) => !found.some((one) => one.code === code || (code === 'standard_mismatch' && isBad(one))),
  );
  const findings = found.length + standard.length === 0 ? [withoutSignature(headers)] : [...found, ...standard];
  if (!findings.some(({ code }) => code.startsWith('body_'))) findings.push(...sentBodyFindings(webhook));
  return {
    result: findings.some(isBad) ? 'refused' : 'genuine',
    findings,
    expected: await signWebhook(body, secrets[0] ?? ''),
  };
}

function isBad(finding: Finding): boolean {
  return wordsOf(finding).tone === 'bad';
}

function missingOf({ body, headers }: CheckedWebhook, secrets: readonly string[]): readonly Finding[] {
  return [
    ...(body === '' ? [{ code: 'body_missing' } as const] : []),
    ...(headers.trim() === '' ? [{ code: 'headers_missing' } as const] : []),
    ...(secrets.length === 0 ? [{ code: 'secret_missing' } as const] : []),
  ];
}

function withoutSignature(headers: HeaderValues): Finding {
  const other = OTHER_HEADERS.find((name) => headers.has(name));
  if (other === undefined) return { code: 'signature_missing' };
  const isPush = other === 'x-service-signature';
  return {
    code: 'other_header',
    detail: isPush ? 'X-Service-Signature is of outcomes that you push to Laurel.' : `You have read ${other}.`,
  };
}

function sentBodyFindings({ body, sentBody }: CheckedWebhook): readonly Finding[] {
  if (sentBody === undefined || sentBody === body) return [];
  const at = firstDifference(sentBody, body);
  const where = at === -1 ? 'What follows its end is yours.' : `The first difference is at character ${at + 1}.`;
  return [{ code: 'body_differs', detail: where }];
}

/** Returns the index of the first difference; -1 if one text is the beginning of the other. */
function firstDifference(sent: string, body: string): number {
  const others = [...body];
  return [...sent].findIndex((character, index) => character !== others[index]);
}
