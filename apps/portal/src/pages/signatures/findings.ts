/** What the checker can find, in words. */
import type { Tone } from '../../kit/status.tsx';

interface Words {
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
}

export type FindingCode = keyof typeof WORDS;

export interface Finding {
  readonly code: FindingCode;
  /** What is special in this case, as one sentence. */
  readonly detail?: string;
}

export function wordsOf({ code, detail }: Finding): Words {
  const words: Words = WORDS[code];
  return detail === undefined ? words : { ...words, text: `${words.text} ${detail}` };
}

const WORDS = {
  body_missing: { tone: 'info', title: 'The body is missing', text: 'Paste the body as it arrived, byte for byte.' },
  headers_missing: { tone: 'info', title: 'The signature is missing', text: 'Paste the headers of the request.' },
  secret_missing: { tone: 'info', title: 'The secret is missing', text: 'Paste the signing secret of the endpoint.' },
  genuine: {
    tone: 'good',
    title: 'X-Webhook-Signature is genuine',
    text: 'The secret signed exactly this body. `verifyWebhook` of the SDK accepts it.',
  },
  standard_genuine: {
    tone: 'good',
    title: 'webhook-signature is genuine',
    text: 'The secret signed this body with this id and this time. A library of Standard Webhooks accepts it.',
  },
  one_of_several_secrets: {
    tone: 'info',
    title: 'One of several secrets fits',
    text: 'Pass all of them to your verification while you replace one.',
  },
  upper_case_hex: {
    tone: 'warn',
    title: 'The digits are in upper case',
    text: 'Laurel sends lower case. The SDK accepts either; a comparison of texts does not. Compare bytes.',
  },
  signature_missing: {
    tone: 'bad',
    title: 'There is no signature among the headers',
    text: 'Laurel sends X-Webhook-Signature, and webhook-signature of Standard Webhooks. A proxy may have removed them, or these are the headers of another request.',
  },
  other_header: {
    tone: 'bad',
    title: 'This is the wrong header',
    text: 'The header is not of a webhook of Laurel. Read X-Webhook-Signature.',
  },
  several_signatures: {
    tone: 'bad',
    title: 'X-Webhook-Signature is there more than once',
    text: 'Laurel sends it once. A proxy has doubled it, or two requests are mixed.',
  },
  standard_in_wrong_header: {
    tone: 'bad',
    title: 'This is the value of webhook-signature',
    text: 'A value that begins with `v1,` belongs into webhook-signature, with webhook-id and webhook-timestamp. X-Webhook-Signature begins with `sha256=`.',
  },
  prefix_missing: {
    tone: 'bad',
    title: 'The signature has no `sha256=`',
    text: 'X-Webhook-Signature is `sha256=` in lower case and 64 hexadecimal digits.',
  },
  signature_base64: {
    tone: 'bad',
    title: 'The signature is base64, not hexadecimal',
    text: 'X-Webhook-Signature has 64 hexadecimal digits. Only webhook-signature is base64.',
  },
  signature_cut_off: {
    tone: 'bad',
    title: 'The signature is not complete',
    text: 'X-Webhook-Signature is `sha256=` and 64 hexadecimal digits.',
  },
  signature_malformed: {
    tone: 'bad',
    title: 'The signature has not its form',
    text: 'X-Webhook-Signature is `sha256=` and 64 hexadecimal digits, with nothing around it.',
  },
  standard_malformed: {
    tone: 'bad',
    title: 'webhook-signature has not its form',
    text: 'It is `v1,` and base64.',
  },
  standard_header_missing: {
    tone: 'bad',
    title: 'A header of Standard Webhooks is missing',
    text: 'webhook-signature is of webhook-id, webhook-timestamp and the body together.',
  },
  timestamp_malformed: {
    tone: 'bad',
    title: 'webhook-timestamp is not in seconds',
    text: 'It is the time of the send in whole seconds since 1970, in ten digits.',
  },
  timestamp_old: {
    tone: 'warn',
    title: 'webhook-timestamp is more than five minutes away',
    text: 'A library of Standard Webhooks refuses it now. For a saved request that is expected; for one that has just arrived, set your clock.',
  },
  secret_wrapped: {
    tone: 'bad',
    title: 'There is something around the secret',
    text: 'Without its white space or quotes the secret fits. Look at how your settings file writes it.',
  },
  secret_without_prefix: {
    tone: 'bad',
    title: 'The secret has lost its `whsec_`',
    text: 'With `whsec_` in front it fits. X-Webhook-Signature is keyed with the whole secret.',
  },
  secret_upper_case: {
    tone: 'bad',
    title: 'The secret is in another case',
    text: 'In lower case it fits. The key is the text of the secret, not the bytes that its digits spell.',
  },
  secret_decoded: {
    tone: 'bad',
    title: 'The signature is keyed with decoded bytes',
    text: 'It was made with the bytes that the digits of the secret spell. The key of X-Webhook-Signature is the text of the whole secret, in UTF-8.',
  },
  secret_is_api_key: {
    tone: 'bad',
    title: 'This is an API key',
    text: 'Webhooks are signed with the secret of the endpoint, `whsec_...`, which was shown when it was created.',
  },
  secret_malformed: {
    tone: 'bad',
    title: 'The secret has not its form',
    text: 'It is `whsec_` and 64 hexadecimal digits.',
  },
  body_reserialised: {
    tone: 'bad',
    title: 'The body was parsed and written again',
    text: 'As compact JSON it fits: a framework has parsed the body and printed it. Verify the raw bytes, before anything parses them.',
  },
  body_rewritten: {
    tone: 'bad',
    title: 'The body looks parsed and written again',
    text: 'Laurel sends compact JSON with `event` first. In that form it does not match either: the secret is another one too, or a value has changed.',
  },
  body_padded: {
    tone: 'bad',
    title: 'There is white space around the body',
    text: 'Without it the body fits. A file or a log has added a line break, or your server did.',
  },
  body_mark: {
    tone: 'bad',
    title: 'The body begins with a byte order mark',
    text: 'Without it the body fits. An editor has added it.',
  },
  body_quoted: {
    tone: 'bad',
    title: 'The body is a JSON text inside a JSON text',
    text: 'Unpacked once it fits: your server or your log has written the body as a string.',
  },
  body_not_event: {
    tone: 'warn',
    title: 'The signed body is not an event',
    text: 'The signature fits, but the body has no `event`, `timestamp` and `data`, so the SDK refuses it.',
  },
  body_differs: {
    tone: 'bad',
    title: 'This is not the body that Laurel sent',
    text: 'It differs from the body in the delivery log.',
  },
  mismatch: {
    tone: 'bad',
    title: 'No secret signed this body',
    text: 'The secret is of another endpoint or was replaced, or the body was changed. Each send is signed with the secret of its moment.',
  },
  standard_mismatch: {
    tone: 'bad',
    title: 'webhook-signature does not match',
    text: 'The secret, the body, webhook-id or webhook-timestamp is another one than was signed.',
  },
} as const satisfies Readonly<Record<string, Words>>;
