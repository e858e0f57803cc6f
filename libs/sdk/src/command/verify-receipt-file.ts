/**
 * `laurel verify-receipt`: checks a receipt without Laurel. It never uses a key inside the receipt:
 * a forger can include one. A receipt of a settled tournament round has the round's `seal`. Then
 * the command also checks that the round counted the receipt, with which rank and which payout.
 */
import { readFileSync } from 'node:fs';
import type { Bytes } from '../bytes.ts';
import { listedKeys, pinnedKey, type TrustedKey } from '../receipts/trusted-keys.ts';
import { type ReceiptVerdict, verifyReceipt } from '../receipts/verify-receipt.ts';
import { parseExactJson } from '../strict-json.ts';
import {
  baseUrlOf,
  CommandError,
  type Environment,
  EXIT_CODES,
  messageOf,
  readArguments,
  settingOf,
} from './command.ts';

export const VERIFY_RECEIPT_HELP = `usage: laurel verify-receipt FILE (--keys FILE or URL | --public-key BASE64)...

Checks that Laurel signed the receipt in FILE, {receipt, signature, seal?} as JSON, and that its round counted it, once that is settled.

  --keys FILE or URL     the list of keys that Laurel publishes at /.well-known/laurel-keys.json; over https, or http on this machine
  --public-key BASE64    a key that you pinned: Ed25519, SPKI DER

Both may be given more than once: a round may be sealed with a newer key than its receipts were signed with. Without either the list of
LAUREL_BASE_URL is used.

Exits 0 when everything in it is valid, 1 when not, 2 when there is no verdict: no key was given, or the keys or FILE could not be read.
`;

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

const KEYS_PATH = '/.well-known/laurel-keys.json';
const KEYS_TIMEOUT_MS = 10_000;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

export async function verifyReceiptFile(argv: readonly string[], environment: Environment): Promise<number> {
  const { file, keys, publicKeys } = readOptions(argv, environment);
  const trusted = (await Promise.all([...publicKeys.map(readPinnedKey), ...keys.map(readKeyList)])).flat();
  const verdict = await judge(file, trusted);
  const output = verdict.kind === 'valid' ? process.stdout : process.stderr;
  output.write(`${linesOf(verdict).join('\n')}\n`);
  return verdict.kind === 'valid' ? EXIT_CODES.done : EXIT_CODES.refused;
}

function readOptions(argv: readonly string[], environment: Environment) {
  const option = { type: 'string', multiple: true } as const;
  const options = { keys: option, 'public-key': option };
  const { positionals, values } = readArguments(
    { args: [...argv], allowPositionals: true, options },
    VERIFY_RECEIPT_HELP,
  );
  const [file, ...rest] = positionals;
  if (file === undefined || rest.length > 0) throw new CommandError(VERIFY_RECEIPT_HELP);
  const { keys = [], 'public-key': publicKeys = [] } = values;
  const baseUrl = settingOf(environment, 'LAUREL_BASE_URL');
  if (keys.length + publicKeys.length > 0) return { file, keys, publicKeys };
  if (baseUrl !== null) return { file, keys: [`${baseUrlOf(baseUrl)}${KEYS_PATH}`], publicKeys };
  throw new CommandError(
    `Nothing was checked: a receipt proves nothing by the key inside of it, so name the keys that you trust, with --keys or --public-key.\n\n${VERIFY_RECEIPT_HELP}`,
  );
}

async function readPinnedKey(base64: string): Promise<readonly TrustedKey[]> {
  const key = await pinnedKey(base64);
  if (key === null) {
    throw new CommandError('Nothing was checked: --public-key is not an Ed25519 key (SPKI DER in base64).');
  }
  return [key];
}

async function readKeyList(from: string): Promise<readonly TrustedKey[]> {
  const keys = await listedKeys(await readKeys(from));
  if (keys === null) {
    throw new CommandError(
      `Nothing was checked: ${from} is not {keys: [{key_id, algorithm, public_key, from, until}]}.`,
    );
  }
  return keys;
}

async function readKeys(from: string): Promise<unknown> {
  try {
    return parseExactJson(/^https?:/i.test(from) ? await fetchKeys(new URL(from)) : readFileSync(from));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    if (error instanceof SyntaxError) throw new CommandError(`Nothing was checked: ${from} ${error.message}.`);
    throw new CommandError(`Nothing was checked: the keys could not be read from ${from} (${messageOf(error)}).`);
  }
}

async function fetchKeys(address: URL): Promise<Bytes> {
  if (address.protocol === 'http:' && !LOOPBACK.test(address.hostname)) {
    throw new CommandError('Nothing was checked: keys come over https, or over http from this machine alone.');
  }
  const response = await fetch(address, {
    headers: { connection: 'close' },
    redirect: 'error',
    signal: AbortSignal.timeout(KEYS_TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`it answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

async function judge(file: string, trusted: readonly TrustedKey[]): Promise<ReceiptVerdict> {
  const bytes = readReceipt(file);
  let answer: unknown;
  try {
    answer = parseExactJson(bytes);
  } catch (error) {
    return { kind: 'not_valid', reason: `${file} ${messageOf(error)}` };
  }
  return await verifyReceipt(answer, trusted);
}

function readReceipt(file: string): Bytes {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new CommandError(`Nothing was checked: ${file} could not be read (${messageOf(error)}).`);
  }
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
