/**
 * `npm run verify-receipt -- <file.json> [--public-key <base64>]...`: checks a receipt offline, without the service.
 * The file is the answer of GET /api/operator/receipts/{id}. Exits 0 when everything in it is valid, else 1.
 *
 * A receipt of a settled tournament round comes with the round's `seal`. Then it is also checked that the receipt was counted in that
 * round, with which rank and which payout.
 *
 * Without `--public-key` the keys inside the file are trusted, which only proves that the file was not changed since: pin the key. It may
 * be given more than once, because a round may be sealed with a newer key than its receipts were signed with.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseJson } from '@laurel/json';
import { verifySeal } from './round-seal.ts';
import { canonicalJson, verifySignature } from './signature.ts';

const USAGE = 'usage: npm run verify-receipt -- <file.json> [--public-key <base64>]...';

const SHOWN_FIELDS = [
  'receipt_id',
  'tournament_round_id',
  'attempt_id',
  'player_ref',
  'score',
  'tiebreak',
  'threshold_applied',
  'met_threshold',
  'award',
  'recorded_at',
];

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
  if (!isTrusted(publicKey, args.pinnedKeys)) {
    return invalid('NOT VALID: the receipt was signed with another key than the given one.');
  }
  const canonical = canonicalOf(answer.receipt);
  if (canonical === null) return invalid('NOT VALID: the receipt has no canonical JSON.');
  if (!verifySignature({ canonical, signature: Buffer.from(answer.signature, 'base64'), publicKey })) {
    return invalid('NOT VALID: the signature does not belong to this receipt.');
  }
  const receiptLines = [
    'VALID: this receipt is exactly what the key signed (Ed25519 over RFC 8785 canonical JSON).',
    ...SHOWN_FIELDS.filter((name) => name in answer.receipt).map(
      (name) => `  ${name}: ${JSON.stringify(answer.receipt[name])}`,
    ),
    keyLine(publicKey, args.pinnedKeys),
  ];
  if (answer.seal === undefined || answer.seal === null) return { valid: true, lines: receiptLines };

  const seal = verifyCounted(canonical, answer.seal, args.pinnedKeys);
  return seal.valid ? { valid: true, lines: [...receiptLines, ...seal.lines] } : seal;
}

/** The second half: what became of a genuine receipt in its round. */
function verifyCounted(receipt: string, sealInFile: unknown, pinnedKeys: readonly string[]): Verdict {
  const verdict = verifySeal(receipt, sealInFile);
  if (verdict.kind === 'not_counted') return invalid(`NOT VALID: the receipt is genuine, but ${verdict.reason}.`);
  const { statement, leaf, leaf_index: index, public_key } = verdict.seal;
  const publicKey = Buffer.from(public_key, 'base64');
  if (!isTrusted(publicKey, pinnedKeys)) {
    return invalid('NOT VALID: the seal of the round was signed with another key than the given one.');
  }
  const counted = `VALID: this receipt is counted in round ${statement.round_number}`;
  const place = `rank ${leaf.final_rank}, payout ${leaf.payout_amount}`;
  return {
    valid: true,
    lines: [
      leaf.best ? `${counted} with ${place}.` : `${counted}; a better run gave its player ${place}.`,
      `  round_id: ${JSON.stringify(statement.round_id)}`,
      `  settled_at: ${JSON.stringify(statement.settled_at)}`,
      `  leaf: ${index + 1} of ${statement.leaves} (Merkle tree of RFC 6962, root ${statement.root})`,
      keyLine(publicKey, pinnedKeys),
    ],
  };
}

function keyLine(publicKey: Buffer, pinnedKeys: readonly string[]): string {
  const note = pinnedKeys.length === 0 ? '(taken from the file; pin it with --public-key)' : '(as given)';
  return `  public key: ${publicKey.toString('base64')} ${note}`;
}

/** Without a pinned key every key is. */
function isTrusted(publicKey: Buffer, pinnedKeys: readonly string[]): boolean {
  return pinnedKeys.length === 0 || pinnedKeys.some((pinned) => Buffer.from(pinned, 'base64').equals(publicKey));
}

function readArguments(argv: readonly string[]): { file: string; pinnedKeys: readonly string[] } | null {
  try {
    const { positionals, values } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { 'public-key': { type: 'string', multiple: true } },
    });
    const [file, ...rest] = positionals;
    return file === undefined || rest.length > 0 ? null : { file, pinnedKeys: values['public-key'] ?? [] };
  } catch {
    return null;
  }
}

type Answer = {
  readonly receipt: Record<string, unknown>;
  readonly signature: string;
  readonly public_key: string;
  /** Only of a receipt whose round is settled. */
  readonly seal?: unknown;
};

/** The answer in the file, or the sentence that says what is wrong with it. */
function readAnswer(file: string): Answer | string {
  let parsed: unknown;
  try {
    parsed = parseJson(readFileSync(file, 'utf8'));
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
