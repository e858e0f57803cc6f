/** `laurel verify-webhook`: checks a signature over the bytes of standard input. */
import { verifyWebhook, WebhookVerificationError } from '../verify-webhook.ts';
import { CommandError, type Environment, EXIT_CODES, readArguments, settingOf } from './command.ts';

export const VERIFY_WEBHOOK_HELP = `usage: laurel verify-webhook --signature X [--secret S] < body

Checks that the secret signed exactly the bytes of standard input, and that they are an event.

  --signature X    the X-Webhook-Signature of the request: sha256=...
  --secret S       the whole signing secret, whsec_..., instead of LAUREL_WEBHOOK_SECRET

Exits 0 when the signature is valid, 1 when it is not, 2 when nothing was checked.
`;

const NEWLINE = 0x0a;

export async function verifyWebhookInput(argv: readonly string[], environment: Environment): Promise<number> {
  const option = { type: 'string' } as const;
  const { values } = readArguments(
    { args: [...argv], options: { signature: option, secret: option } },
    VERIFY_WEBHOOK_HELP,
  );
  const secret = values.secret ?? settingOf(environment, 'LAUREL_WEBHOOK_SECRET');
  if (values.signature === undefined) throw new CommandError('--signature is missing.');
  if (secret === null || secret === '') throw new CommandError('--secret and LAUREL_WEBHOOK_SECRET are missing.');

  const request = { headers: { 'x-webhook-signature': values.signature }, secrets: [secret] };
  const body = await readInput();
  try {
    const { event, dedupeKey } = await verifyWebhook({ ...request, body });
    process.stdout.write(`VALID: ${event.event} of ${event.timestamp}\n  dedupeKey: ${dedupeKey}\n`);
    return EXIT_CODES.done;
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    const isSignedWithoutNewline =
      error.reason === 'signature_mismatch' &&
      body.at(-1) === NEWLINE &&
      (await verifyWebhook({ ...request, body: body.subarray(0, -1) }).then(
        () => true,
        () => false,
      ));
    const hint = isSignedWithoutNewline ? ' Without the newline at its end it is what was signed.' : '';
    process.stderr.write(`NOT VALID (${error.reason}): ${error.message}${hint}\n`);
    return EXIT_CODES.refused;
  }
}

async function readInput(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
