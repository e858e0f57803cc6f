/**
 * The findings about `X-Webhook-Signature`. `verifyWebhook` of the SDK decides, and the rest looks
 * for the reason of a refusal.
 */
import { signWebhook, verifyWebhook, WebhookVerificationError } from '@laurel/sdk';
import { looksRewritten, variantsOf } from './body-variants.ts';
import type { Finding, FindingCode } from './findings.ts';
import { bytesOfHex, hmac, standardKeyOf, toHex } from './hmac.ts';
import { type HeaderValues, SIGNATURE_HEADER } from './read-headers.ts';

const SECRET = /^whsec_[0-9a-f]{64}$/;
const MASKED_DIGITS = 4;

/** Checks the header; an absent header gives no findings. */
export async function signatureFindings(
  body: string,
  headers: HeaderValues,
  secrets: readonly string[],
): Promise<readonly Finding[]> {
  const values = headers.get(SIGNATURE_HEADER) ?? [];
  const [value = ''] = values;
  if (values.length === 0) return [];
  const reason = await reasonOf(body, values, secrets);
  if (reason === 'signature_malformed') {
    if (values.length > 1) return [{ code: 'several_signatures' }];
    return [await malformedFinding(body, value, secrets)];
  }
  if (reason === 'secret_malformed') return [await secretFinding(body, value, secrets)];
  if (reason === 'signature_mismatch') return [await mismatchFinding(body, value, secrets)];
  const notes: Finding[] = [{ code: 'genuine' }];
  if (reason === 'body_malformed') notes.push({ code: 'body_not_event' });
  if (secrets.length > 1) notes.push(await whichSecret(body, value, secrets));
  if (/[A-F]/.test(value)) notes.push({ code: 'upper_case_hex' });
  return notes;
}

/** Returns why the SDK refuses the webhook, or undefined if the SDK accepts it. */
async function reasonOf(body: string, values: readonly string[], secrets: readonly string[]) {
  try {
    await verifyWebhook({ body, headers: { [SIGNATURE_HEADER]: [...values] }, secrets });
    return undefined;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.reason;
    throw error;
  }
}

async function isSigned(body: string, value: string, secret: string): Promise<boolean> {
  return (await signWebhook(body, secret)) === value.toLowerCase();
}

async function whichSecret(body: string, value: string, secrets: readonly string[]): Promise<Finding> {
  for (const [index, secret] of secrets.entries()) {
    if (await isSigned(body, value, secret))
      return { code: 'one_of_several_secrets', detail: `It is number ${index + 1}, which ends in ${endOf(secret)}.` };
  }
  return { code: 'one_of_several_secrets' };
}

/** Names what is wrong with the form, and whether the signature fits apart from it. */
async function malformedFinding(body: string, value: string, secrets: readonly string[]): Promise<Finding> {
  const code = formOf(value);
  const digits = /[0-9a-f]{64}/i.exec(value)?.[0];
  if (digits === undefined) return code === 'signature_cut_off' ? { code, detail: digitsOf(value) } : { code };
  const fits = await Promise.all(secrets.map((secret) => isSigned(body, `sha256=${digits}`, secret)));
  return { code, detail: fits.includes(true) ? 'In its right form it is genuine.' : 'Its digits do not match either.' };
}

function formOf(value: string): FindingCode {
  const bare = value.trim();
  if (/^v1a?,/.test(bare)) return 'standard_in_wrong_header';
  if (/^[0-9a-f]{64}$/i.test(bare)) return 'prefix_missing';
  if (/^(?:sha256=)?[A-Za-z0-9+/]{43}=$/.test(bare)) return 'signature_base64';
  if (/^sha256=[0-9a-f]{0,63}$/i.test(bare)) return 'signature_cut_off';
  return 'signature_malformed';
}

function digitsOf(value: string): string {
  return `It has ${value.trim().length - 'sha256='.length} of them.`;
}

/** The SDK has found that one of the secrets fits in the form in which it was shown. */
async function secretFinding(body: string, value: string, secrets: readonly string[]): Promise<Finding> {
  const isBare = await Promise.all(secrets.map((secret) => isSigned(body, value, `whsec_${secret}`)));
  return { code: isBare.includes(true) ? 'secret_without_prefix' : 'secret_wrapped' };
}

async function mismatchFinding(body: string, value: string, secrets: readonly string[]): Promise<Finding> {
  for (const secret of secrets.flatMap(spellingsOf)) {
    for (const variant of variantsOf(body)) {
      if (await isSigned(variant.body, value, secret)) return { code: variant.code };
    }
  }
  for (const secret of secrets) {
    const shown = secret.trim().toLowerCase();
    if (shown !== secret && (await isSigned(body, value, shown))) return { code: 'secret_upper_case' };
    if (await isSignedByDecoded(body, value, secret)) return { code: 'secret_decoded' };
  }
  return formOfSecrets(secrets) ?? { code: looksRewritten(body) ? 'body_rewritten' : 'mismatch' };
}

/** Returns the secret as pasted, and as Laurel showed it. */
function spellingsOf(secret: string): readonly string[] {
  const bare = secret.replace(/^[\s"']+|[\s"']+$/g, '');
  return [...new Set([secret, bare, `whsec_${bare}`])].filter((spelling) => spelling !== '');
}

/** Whether the key was not the text of the secret, but bytes that a part of it spells. */
async function isSignedByDecoded(body: string, value: string, secret: string): Promise<boolean> {
  const digits = /[0-9a-f]{64}/i.exec(secret)?.[0] ?? '';
  const keys = [bytesOfHex(digits), standardKeyOf(secret.trim()), new TextEncoder().encode(digits)];
  for (const key of keys) {
    if (key === undefined || key.length === 0) continue;
    if (`sha256=${toHex(await hmac(key, body))}` === value.toLowerCase()) return true;
  }
  return false;
}

/** Returns what is wrong with the only secret, or with each of several. */
function formOfSecrets(secrets: readonly string[]): Finding | undefined {
  if (secrets.some((secret) => SECRET.test(secret.trim()))) return undefined;
  const [secret = ''] = secrets.map((one) => one.trim());
  if (/^sk_(?:test|live)_/.test(secret)) return { code: 'secret_is_api_key' };
  const digits = secret.replace(/^whsec_/, '').length;
  return {
    code: 'secret_malformed',
    detail: `This one has ${digits} characters${secret.startsWith('whsec_') ? ' after `whsec_`' : ' and no `whsec_`'}.`,
  };
}

function endOf(secret: string): string {
  return `…${secret.trim().slice(-MASKED_DIGITS)}`;
}
