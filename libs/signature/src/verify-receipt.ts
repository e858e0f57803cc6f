/**
 * `npm run verify-receipt -- <file.json> --keys <file or address>`, or `--public-key <base64>` instead: checks a receipt without the
 * service. The file is the answer of GET /api/operator/receipts/{id}.
 *
 * Exits 0 when everything in it is valid, 1 when not, and 2 when there is no verdict: no key was given, or the keys could not be read.
 *
 * `--keys` takes the list of keys that the service publishes at `/.well-known/laurel-keys.json`, as a file or by its address (https, or http
 * on this machine). `--public-key` pins a key. Both may be given more than once: a round may be sealed with a newer key than its receipts
 * were signed with. A key that came with the receipt is never used, because a forger can include a key.
 *
 * A receipt of a settled tournament round comes with the round's `seal`. Then it is also checked that the receipt was counted in that
 * round, with which rank and which payout.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseJson } from '@laurel/json';
import { type ReceiptVerdict, verifyReceipt } from './receipt-verdict.ts';
import { listedKeys, pinnedKey, type TrustedKey } from './trusted-keys.ts';

const USAGE = 'usage: npm run verify-receipt -- <file.json> (--keys <file or address> | --public-key <base64>)...';

const EXIT_CODES = { valid: 0, not_valid: 1, not_checked: 2 } as const;

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

const KEYS_TIMEOUT_MS = 10_000;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Why nothing could be checked, as a sentence. */
class NotCheckedError extends Error {}

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  try {
    const { file, keys, publicKeys } = readArguments(argv);
    const trusted = [...publicKeys.map(readPinnedKey), ...(await Promise.all(keys.map(readKeyList))).flat()];
    const verdict = judge(file, trusted);
    const output = verdict.kind === 'valid' ? process.stdout : process.stderr;
    output.write(`${linesOf(verdict).join('\n')}\n`);
    return EXIT_CODES[verdict.kind];
  } catch (error) {
    if (!(error instanceof NotCheckedError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return EXIT_CODES.not_checked;
  }
}

function readArguments(argv: readonly string[]): {
  readonly file: string;
  readonly keys: readonly string[];
  readonly publicKeys: readonly string[];
} {
  const { positionals, values } = parseArguments(argv);
  const [file, ...rest] = positionals;
  if (file === undefined || rest.length > 0) throw new NotCheckedError(USAGE);
  const { keys = [], 'public-key': publicKeys = [] } = values;
  if (keys.length + publicKeys.length === 0) {
    throw new NotCheckedError(
      `Nothing was checked: a receipt proves nothing by the key inside of it, so name the keys that you trust, with --keys or --public-key.\n${USAGE}`,
    );
  }
  return { file, keys, publicKeys };
}

function parseArguments(argv: readonly string[]) {
  try {
    const option = { type: 'string', multiple: true } as const;
    return parseArgs({ args: [...argv], allowPositionals: true, options: { keys: option, 'public-key': option } });
  } catch {
    throw new NotCheckedError(USAGE);
  }
}

function readPinnedKey(base64: string): TrustedKey {
  const key = pinnedKey(base64);
  if (key === null) {
    throw new NotCheckedError('Nothing was checked: --public-key is not an Ed25519 key (SPKI DER in base64).');
  }
  return key;
}

async function readKeyList(from: string): Promise<readonly TrustedKey[]> {
  const keys = listedKeys(await readKeys(from));
  if (keys === null) {
    throw new NotCheckedError(
      `Nothing was checked: ${from} is not {keys: [{key_id, algorithm, public_key, from, until}]}.`,
    );
  }
  return keys;
}

async function readKeys(from: string): Promise<unknown> {
  try {
    return parseJson(/^https?:/i.test(from) ? await fetchKeys(new URL(from)) : readFileSync(from, 'utf8'));
  } catch (error) {
    if (error instanceof NotCheckedError) throw error;
    throw new NotCheckedError(`Nothing was checked: the keys could not be read from ${from} (${messageOf(error)}).`);
  }
}

async function fetchKeys(address: URL): Promise<string> {
  if (address.protocol === 'http:' && !LOOPBACK.test(address.hostname)) {
    throw new NotCheckedError(`Nothing was checked: keys come over https, or over http from this machine alone.`);
  }
  const response = await fetch(address, {
    headers: { connection: 'close' },
    redirect: 'error',
    signal: AbortSignal.timeout(KEYS_TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`it answered ${response.status}`);
  return await response.text();
}

function judge(file: string, trusted: readonly TrustedKey[]): ReceiptVerdict {
  let answer: unknown;
  try {
    answer = parseJson(readFileSync(file, 'utf8'));
  } catch (error) {
    return { kind: 'not_valid', reason: `${file} could not be read as JSON (${messageOf(error)})` };
  }
  return verifyReceipt(answer, trusted);
}

function linesOf(verdict: ReceiptVerdict): readonly string[] {
  if (verdict.kind === 'not_valid') return [`NOT VALID: ${verdict.reason}.`];
  const { receipt, key, counted } = verdict;
  const lines = [
    'VALID: this receipt is exactly what the key signed (Ed25519 over RFC 8785 canonical JSON).',
    ...SHOWN_FIELDS.filter((name) => name in receipt).map((name) => `  ${name}: ${JSON.stringify(receipt[name])}`),
    keyLine(key),
  ];
  if (counted === null) return lines;
  const { statement, leaf, leaf_index: index } = counted.seal;
  const result = `rank ${leaf.final_rank}, payout ${leaf.payout_amount}`;
  const isCounted = `VALID: this receipt is counted in round ${statement.round_number}`;
  return [
    ...lines,
    leaf.best ? `${isCounted} with ${result}.` : `${isCounted}; a better run gave its player ${result}.`,
    `  round_id: ${JSON.stringify(statement.round_id)}`,
    `  settled_at: ${JSON.stringify(statement.settled_at)}`,
    `  leaf: ${index + 1} of ${statement.leaves} (Merkle tree of RFC 6962, root ${statement.root})`,
    keyLine(counted.key),
  ];
}

function keyLine({ keyId, period }: TrustedKey): string {
  if (period === null) return `  signed with the key ${keyId}, as given`;
  const until = period.until === null ? 'still in use' : `until ${period.until.toISOString()}`;
  return `  signed with the key ${keyId}, listed from ${period.from.toISOString()}, ${until}`;
}

function messageOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message;
}
