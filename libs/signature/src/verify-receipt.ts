/**
 * `npm run verify-receipt -- <file.json> [--public-key <base64>]`: checks a receipt offline, without the service.
 * The file is the answer of GET /api/operator/receipts/{id}. Exits 0 when the signature is valid, else 1.
 * Without `--public-key` the key inside the file is trusted, which only proves that the file was not changed since: pin the key.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { canonicalJson, verifySignature } from './signature.ts';

const USAGE = 'usage: npm run verify-receipt -- <file.json> [--public-key <base64>]';

process.exitCode = main(process.argv.slice(2));

function main(argv: readonly string[]): number {
  const verdict = verifyReceipt(argv);
  (verdict.valid ? process.stdout : process.stderr).write(`${verdict.lines.join('\n')}\n`);
  return verdict.valid ? 0 : 1;
}

type Verdict = { readonly valid: boolean; readonly lines: readonly string[] };

function verifyReceipt(argv: readonly string[]): Verdict {
  const args = readArguments(argv);
  if (args === null) return invalid(USAGE);
  const answer = readAnswer(args.file);
  if (typeof answer === 'string') return invalid(answer);

  const publicKey = Buffer.from(answer.public_key, 'base64');
  if (args.publicKey !== undefined && !Buffer.from(args.publicKey, 'base64').equals(publicKey)) {
    return invalid('NOT VALID: the receipt was signed with another key than the given one.');
  }
  const canonical = canonicalOf(answer.receipt);
  if (canonical === null) return invalid('NOT VALID: the receipt has no canonical JSON.');
  if (!verifySignature({ canonical, signature: Buffer.from(answer.signature, 'base64'), publicKey })) {
    return invalid('NOT VALID: the signature does not belong to this receipt.');
  }
  return {
    valid: true,
    lines: [
      'VALID: this receipt is exactly what the key signed (Ed25519 over RFC 8785 canonical JSON).',
      ...[
        'receipt_id',
        'attempt_id',
        'player_ref',
        'score',
        'threshold_applied',
        'met_threshold',
        'award',
        'recorded_at',
      ]
        .filter((name) => name in answer.receipt)
        .map((name) => `  ${name}: ${JSON.stringify(answer.receipt[name])}`),
      `  public key: ${answer.public_key}${args.publicKey === undefined ? ' (taken from the file; pin it with --public-key)' : ' (as given)'}`,
    ],
  };
}

function readArguments(argv: readonly string[]): { file: string; publicKey: string | undefined } | null {
  try {
    const { positionals, values } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { 'public-key': { type: 'string' } },
    });
    const [file, ...rest] = positionals;
    return file === undefined || rest.length > 0 ? null : { file, publicKey: values['public-key'] };
  } catch {
    return null;
  }
}

type Answer = { readonly receipt: Record<string, unknown>; readonly signature: string; readonly public_key: string };

/** The answer in the file, or the sentence that says what is wrong with it. */
function readAnswer(file: string): Answer | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    return `NOT VALID: ${file} could not be read as JSON (${error instanceof Error ? error.message : String(error)}).`;
  }
  const answer = (parsed ?? {}) as Partial<Answer>;
  const complete =
    typeof answer.receipt === 'object' &&
    answer.receipt !== null &&
    typeof answer.signature === 'string' &&
    typeof answer.public_key === 'string';
  return complete ? (answer as Answer) : `NOT VALID: ${file} is not {receipt, signature, public_key}.`;
}

/** Null for what could never have been signed, for example a text with half a surrogate pair. */
function canonicalOf(receipt: object): string | null {
  try {
    return canonicalJson(receipt);
  } catch {
    return null;
  }
}

function invalid(line: string): Verdict {
  return { valid: false, lines: [line] };
}
