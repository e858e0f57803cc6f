import { createHmac } from 'node:crypto';
import { signWebhook, verifyWebhook } from '@laurel/sdk';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { signStandardly } from './hmac.ts';
import { type CheckedWebhook, judgeWebhook } from './verdict.ts';

const SECRET = `whsec_${'0123456789abcdef'.repeat(4)}`;
const OTHER = `whsec_${'fedcba9876543210'.repeat(4)}`;
/** The body as Laurel writes it: compact, with amounts of two places. */
const BODY =
  '{"event":"attempt.settled","timestamp":"2026-03-04T05:06:07.089Z","data":{"attempt_id":"a","player_ref":"Grüße/1",' +
  '"score":1234.5,"award":{"id":"w","amount":25.00,"payout_status":"paid"}}}';
const NOW = Date.parse('2026-03-04T05:06:10.000Z');
const SECONDS = String(Math.floor(NOW / 1_000));
const SIGNATURE = await signWebhook(BODY, SECRET);

async function verdictOf(changes: Partial<CheckedWebhook> = {}) {
  return judgeWebhook({ body: BODY, headers: `X-Webhook-Signature: ${SIGNATURE}`, secrets: SECRET, ...changes }, NOW);
}

async function codesOf(changes: Partial<CheckedWebhook> = {}) {
  return (await verdictOf(changes)).findings.map(({ code }) => code);
}

async function standardHeaders(timestamp = SECONDS) {
  const signature = await signStandardly(SECRET, 'd', timestamp, BODY);
  return `webhook-id: d\nwebhook-timestamp: ${timestamp}\nwebhook-signature: ${signature}`;
}

describe('the verdict on a webhook', () => {
  test('the page gives no verdict until the input is complete', async () => {
    expect(await verdictOf({ body: '', headers: ' ', secrets: '\n' })).toEqual({
      result: 'incomplete',
      findings: [{ code: 'body_missing' }, { code: 'headers_missing' }, { code: 'secret_missing' }],
      expected: null,
    });
  });

  test('a webhook is genuine exactly if verifyWebhook of the SDK accepts it', async () => {
    const changeOf = fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => `${text} `,
      (text) => text.slice(1),
      (text) => text.slice(0, -1),
      (text) => text.toUpperCase(),
      (text) => `"${text}"`,
    );
    const event = fc.record({
      event: fc.string(),
      timestamp: fc.string(),
      data: fc.dictionary(fc.string(), fc.json()),
    });
    await fc.assert(
      fc.asyncProperty(event, changeOf, changeOf, changeOf, async (sent, ofBody, ofSignature, ofSecret) => {
        const text = JSON.stringify(sent).toWellFormed();
        const [body, secret] = [ofBody(text), ofSecret(SECRET)];
        // The value of a header has no white space at its ends.
        const signature = ofSignature(await signWebhook(text, SECRET)).trim();
        const headers = { 'x-webhook-signature': signature };
        const { result, findings } = await judgeWebhook(
          { body, headers: JSON.stringify(headers), secrets: secret },
          Date.now(),
        );
        const isAccepted = await verifyWebhook({ body, headers, secrets: [secret] }).then(
          () => true,
          () => false,
        );
        // A signed body that is not an event is a note: its signature is genuine.
        const codes = findings.map(({ code }) => code);
        expect(result === 'genuine' && !codes.includes('body_not_event')).toBe(isAccepted);
      }),
    );
  });

  test.each([
    ['a line', `X-Webhook-Signature: ${SIGNATURE}`],
    ['lines of curl', `> POST /webhooks HTTP/1.1\n> x-webhook-signature: ${SIGNATURE}\n> `],
    ['an option of curl', `-H "X-Webhook-Signature: ${SIGNATURE}" \\`],
    ['JSON', JSON.stringify({ host: 'example.com', 'x-webhook-signature': [SIGNATURE] })],
    ['a printed object', `  'x-webhook-signature': '${SIGNATURE}',`],
    ['the value alone', SIGNATURE],
  ])('a signature is read from %s', async (_name, headers) => {
    expect(await verdictOf({ headers })).toEqual({
      result: 'genuine',
      findings: [{ code: 'genuine' }],
      expected: SIGNATURE,
    });
  });

  test.each([
    ['no signature', 'Content-Type: application/json', 'signature_missing'],
    ['the header of pushed outcomes', `X-Service-Signature: ${SIGNATURE}`, 'other_header'],
    ['a header of another company', `Stripe-Signature: t=1,v1=${SIGNATURE}`, 'other_header'],
    ['the header twice', `X-Webhook-Signature: ${SIGNATURE}\nX-Webhook-Signature: ${SIGNATURE}`, 'several_signatures'],
    ['no prefix', `X-Webhook-Signature: ${SIGNATURE.slice(7)}`, 'prefix_missing'],
    ['base64', `X-Webhook-Signature: ${Buffer.from(SIGNATURE.slice(7), 'hex').toString('base64')}`, 'signature_base64'],
    ['a cut signature', `X-Webhook-Signature: ${SIGNATURE.slice(0, -3)}`, 'signature_cut_off'],
    ['the other scheme', `X-Webhook-Signature: v1,${'A'.repeat(43)}=`, 'standard_in_wrong_header'],
    ['a scheme in upper case', `X-Webhook-Signature: ${SIGNATURE.toUpperCase()}`, 'signature_malformed'],
  ])('the verdict reports %s among the headers', async (_name, headers, code) => {
    const { result, findings } = await verdictOf({ headers });
    expect([result, findings.map((finding) => finding.code)]).toEqual(['refused', [code]]);
  });

  test('upper-case digits of a signature are accepted with a warning', async () => {
    const headers = `X-Webhook-Signature: sha256=${SIGNATURE.slice(7).toUpperCase()}`;
    expect((await verdictOf({ headers })).result).toBe('genuine');
    expect(await codesOf({ headers })).toEqual(['genuine', 'upper_case_hex']);
  });

  test.each([
    ['of another endpoint', OTHER, 'mismatch'],
    ['without whsec_', SECRET.slice(6), 'secret_without_prefix'],
    ['in quotes', `"${SECRET}"`, 'secret_wrapped'],
    ['with white space', `  ${SECRET}\t`, 'secret_wrapped'],
    ['in upper case', SECRET.toUpperCase(), 'secret_upper_case'],
    ['that is cut off', SECRET.slice(0, -1), 'secret_malformed'],
    ['that is an API key', 'sk_test_abcdef', 'secret_is_api_key'],
  ])('the verdict reports a secret %s', async (_name, secrets, code) => {
    expect((await verdictOf({ secrets })).result).toBe('refused');
    expect(await codesOf({ secrets })).toEqual([code]);
  });

  test('the verdict reports a signature that was made with the decoded secret', async () => {
    const digits = SECRET.slice(6);
    for (const key of [Buffer.from(digits, 'hex'), Buffer.from(digits, 'base64'), Buffer.from(digits)]) {
      const headers = `sha256=${createHmac('sha256', key).update(BODY).digest('hex')}`;
      expect(await codesOf({ headers })).toEqual(['secret_decoded']);
    }
  });

  test('a webhook is genuine if one of several secrets matches', async () => {
    const { result, findings } = await verdictOf({ secrets: `${OTHER}\n\n${SECRET}\n` });
    expect(result).toBe('genuine');
    expect(findings[1]).toEqual({
      code: 'one_of_several_secrets',
      detail: 'It is number 2, which ends in …cdef.',
    });
    expect(await codesOf({ secrets: `${OTHER}\n${OTHER}` })).toEqual(['mismatch']);
  });

  test.each([
    ['printed with another indentation', JSON.stringify(JSON.parse(BODY), null, 2), 'body_reserialised'],
    ['printed compactly, which drops the cents', JSON.stringify(JSON.parse(BODY)), 'body_reserialised'],
    ['printed with escapes', BODY.replace('ü', '\\u00fc').replace('/', '\\/'), 'body_reserialised'],
    ['printed in another order', reordered(BODY), 'body_reserialised'],
    ['as a JSON text', JSON.stringify(BODY), 'body_quoted'],
    ['with a line break', `${BODY}\n`, 'body_padded'],
    ['with a byte order mark', `\ufeff${BODY}`, 'body_mark'],
    ['with another value', BODY.replace('1234.5', '1235'), 'mismatch'],
    ['printed, and with another value', JSON.stringify({ ...JSON.parse(BODY), event: 'x' }), 'body_rewritten'],
  ])('the verdict reports a body %s', async (_name, body, code) => {
    expect((await verdictOf({ body })).result).toBe('refused');
    expect(await codesOf({ body })).toEqual([code]);
  });

  test('the verdict recognises any body that was parsed and serialized again', async () => {
    const data = fc.dictionary(fc.string(), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(data, fc.integer({ min: 1, max: 4 }), async (sent, indent) => {
        const event = { event: 'webhook.test', timestamp: '2026-03-04T05:06:07.089Z', data: sent };
        const body = JSON.stringify(JSON.parse(JSON.stringify(event)));
        const headers = await signWebhook(body, SECRET);
        const printed = JSON.stringify(JSON.parse(body), null, indent);
        expect(await codesOf({ body: printed, headers })).toEqual(['body_reserialised']);
      }),
    );
  });

  test('the verdict shows the first difference between the body and the one in the delivery log', async () => {
    expect(await codesOf({ sentBody: BODY })).toEqual(['genuine']);
    const { result, findings } = await verdictOf({ sentBody: BODY.replace('1234.5', '1235') });
    expect(result).toBe('refused');
    expect(findings[1]?.detail).toMatch(/^The first difference is at character \d+\.$/);
    // If another finding says how the body differs, the first difference is not named too.
    expect(await codesOf({ body: `${BODY} `, sentBody: BODY })).toEqual(['body_padded']);
  });
});

describe('the verdict on webhook-signature', () => {
  test('a webhook-signature is genuine with or without X-Webhook-Signature', async () => {
    const headers = await standardHeaders();
    expect(await codesOf({ headers })).toEqual(['standard_genuine']);
    expect(await codesOf({ headers: `${headers}\nX-Webhook-Signature: ${SIGNATURE}` })).toEqual([
      'genuine',
      'standard_genuine',
    ]);
  });

  test('the verdict gives its reason once if neither signature matches', async () => {
    const headers = `${await standardHeaders()}\nX-Webhook-Signature: ${SIGNATURE}`;
    expect(await codesOf({ headers, secrets: OTHER })).toEqual(['mismatch']);
    expect(await codesOf({ headers, body: `${BODY}\n` })).toEqual(['body_padded']);
  });

  test('a webhook is refused if either of its two signatures does not match', async () => {
    const headers = `${await standardHeaders()}\nX-Webhook-Signature: sha256=${'0'.repeat(64)}`;
    expect((await verdictOf({ headers })).result).toBe('refused');
  });

  test('the verdict recognises a timestamp in milliseconds or as a date', async () => {
    const headers = await standardHeaders();
    for (const timestamp of [`${SECONDS}000`, new Date(Number(SECONDS) * 1_000).toISOString()]) {
      const { findings } = await verdictOf({ headers: headers.replace(SECONDS, timestamp) });
      expect(findings).toEqual([{ code: 'timestamp_malformed', detail: `As ${SECONDS} it fits.` }]);
    }
    expect(await codesOf({ headers: await standardHeaders('1500000000') })).toEqual([
      'standard_genuine',
      'timestamp_old',
    ]);
  });

  test('the verdict reports a missing header', async () => {
    const headers = await standardHeaders();
    expect(await codesOf({ headers: headers.replace('webhook-id: d\n', '') })).toEqual(['standard_header_missing']);
    expect(await codesOf({ headers: headers.replace(`webhook-timestamp: ${SECONDS}\n`, '') })).toEqual([
      'standard_header_missing',
    ]);
    expect(await codesOf({ headers: headers.replace(SECONDS, '1500000000') })).toEqual(['standard_mismatch']);
    expect(await codesOf({ headers, body: JSON.stringify(JSON.parse(BODY)) })).toEqual(['body_reserialised']);
    expect(await codesOf({ headers: `webhook-signature: ${SIGNATURE}` })).toEqual(['standard_malformed']);
  });
});

function reordered(body: string): string {
  const { event, timestamp, data } = JSON.parse(body);
  return JSON.stringify({ data, event, timestamp });
}
