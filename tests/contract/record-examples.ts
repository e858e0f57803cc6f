/**
 * The examples of a document, recorded from a stack's responses. Values that differ between runs
 * are replaced consistently: ids by their order, instants by minutes in their order, keys and other
 * random text by the member's name.
 */
import type { JournalEntry } from '@laurel/testing';

export interface RecordedExample {
  readonly params?: Readonly<Record<string, string>>;
  readonly request?: unknown;
  readonly response?: unknown;
}

/** An example with a name, as the partner document shows several of one operation. */
export interface NamedExample {
  readonly summary: string;
  /** The path that was called, without its query. */
  readonly path: string;
  readonly request?: unknown;
  readonly response?: unknown;
}

/** By operation, and then by the name of the example. */
export type NamedExamples = Readonly<Record<string, Readonly<Record<string, NamedExample>>>>;

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}

type Json = unknown;

/** Lists that grow with a stack's contents; all others are complete. */
const LONG_LISTS = ['data', 'checks'];
const MAX_ITEMS = 2;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const INSTANT = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/g;
const KEY_PREFIX = /sk_(test|live)_\w{4}(?=")/g;
const SECRET = /[0-9a-f]{64}/g;
const FIRST_INSTANT = Date.UTC(2026, 10, 21, 12);
const MINUTE_MS = 60_000;

/** Members with random text, and their values in an example. */
const RANDOM_TEXT: Readonly<Record<string, string>> = {
  token: 'Zk3r8vQ1mY6tLw0aXc5nBd2eHf7gJs9pUi4oRbTqVzE',
  test_key: 'sk_test_example000000000000000000000000000000000000',
  live_key: 'sk_live_example000000000000000000000000000000000000',
  last4: '0000',
  key_id: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  public_key: 'MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
  signature: 'q2Jr0tYw3nXcVbL8mZs5Ef7Kd1Gh9Au4Pi6OoTyRxWvNqBkMjCzSlHeDaFgUi0pQ2rT4yU6wE8sA1dF3gH5jKA==',
  cursor: 'WyIwMWExOWE1Ni05YjQwLTdjMjctOGUzYS0wZDk0YjFmNmMzNzUiLCI0MSJd',
  next_cursor: 'WyIwMWExOWE1Ni05YjQwLTdjMjctOGUzYS0wZDk0YjFmNmMzNzUiLCI0MiJd',
};

/** Records one success of each operation: the first of those with the largest request. */
export function recordExamples(
  journal: readonly JournalEntry[],
  document: Document,
): Readonly<Record<string, RecordedExample>> {
  const recorded: Record<string, RecordedExample> = {};
  for (const [path, item] of Object.entries(document.paths)) {
    const pattern = new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
    for (const [method, { operationId }] of Object.entries(item)) {
      const isIt = (entry: JournalEntry) =>
        entry.method.toLowerCase() === method && entry.answer.status < 300 && pattern.test(pathOf(entry));
      const [entry] = journal.filter(isIt).sort((one, other) => sizeOf(other) - sizeOf(one));
      if (entry === undefined) continue;
      const params = pattern.exec(pathOf(entry))?.groups;
      recorded[operationId] = { ...(params !== undefined && { params }), ...bodiesOf(entry) };
    }
  }
  return settled(withShortLists(recorded)) as typeof recorded;
}

/**
 * Records the responses that are given a name. `replaced` has further texts that differ between
 * runs, each with its value in the examples.
 */
export function createRecorder(journal: readonly JournalEntry[], replaced: Readonly<Record<string, string>>) {
  const recorded: Record<string, Record<string, NamedExample>> = {};
  return {
    /** Records the last response of the journal. */
    record(operation: string, name: string, summary: string): void {
      const entry = journal.at(-1);
      if (entry === undefined || entry.answer.status >= 300) throw new Error(`${operation} ${name} did not succeed`);
      recorded[operation] = {
        ...recorded[operation],
        [name]: { summary, path: pathOf(entry), ...bodiesOf(entry) },
      };
    },
    examples: (): NamedExamples => {
      const text = Object.entries(replaced).reduce(
        (sofar, [value, example]) => sofar.replaceAll(value, example),
        JSON.stringify(recorded),
      );
      return settled(JSON.parse(text)) as NamedExamples;
    },
  };
}

/**
 * Lists the places at which two values differ in members or types. It compares lists by their
 * first items, and skips a place that is empty in either value.
 */
export function differences(recorded: Json, now: Json, at = 'examples'): string[] {
  if (isNothing(recorded) || isNothing(now)) return [];
  if (Array.isArray(recorded) && Array.isArray(now)) return differences(recorded[0], now[0], `${at}[0]`);
  if (typeof recorded !== typeof now || Array.isArray(recorded) !== Array.isArray(now))
    return [`${at} is another type`];
  if (typeof recorded !== 'object' || typeof now !== 'object') return [];
  const [one, other] = [recorded, now] as [Record<string, Json>, Record<string, Json>];
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names.flatMap((name) =>
    name in one && name in other ? differences(one[name], other[name], `${at}.${name}`) : [`${at}.${name} is in one`],
  );
}

function sizeOf({ sent }: JournalEntry): number {
  return sent?.length ?? 0;
}

function isNothing(value: Json): value is null | undefined {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0);
}

function pathOf({ path }: JournalEntry): string {
  return path.split('?')[0] ?? '';
}

function bodiesOf({ sent, answer }: JournalEntry): Pick<RecordedExample, 'request' | 'response'> {
  return {
    ...(sent !== undefined && { request: JSON.parse(sent) }),
    ...(answer.text !== '' && { response: JSON.parse(answer.text) }),
  };
}

function withShortLists(value: Json): Json {
  const isLong = (name: string, member: Json): member is Json[] => Array.isArray(member) && LONG_LISTS.includes(name);
  return JSON.parse(
    JSON.stringify(value, (name, member: Json) => (isLong(name, member) ? member.slice(0, MAX_ITEMS) : member)),
  );
}

function settled(value: Json): Json {
  const text = JSON.stringify(value, (name, member: Json) => {
    if (typeof member === 'string' && RANDOM_TEXT[name] !== undefined) return RANDOM_TEXT[name];
    return name === 'duration_ms' && typeof member === 'number' ? 12 : member;
  });
  const ids = new Map([...new Set(text.match(UUID))].map((id, index) => [id, idAt(index + 1)]));
  const instants = new Map(
    [...new Set(text.match(INSTANT))]
      .sort()
      .map((instant, index) => [instant, new Date(FIRST_INSTANT + index * MINUTE_MS).toISOString()]),
  );
  return JSON.parse(
    text
      .replace(SECRET, '0'.repeat(64))
      .replace(KEY_PREFIX, 'sk_$1_exam')
      .replace(UUID, (id) => ids.get(id) ?? id)
      .replace(INSTANT, (instant) => instants.get(instant) ?? instant),
  );
}

function idAt(index: number): string {
  return `01a1fd00-0000-7000-8000-${String(index).padStart(12, '0')}`;
}
