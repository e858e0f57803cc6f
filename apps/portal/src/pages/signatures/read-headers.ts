/** Reads headers as a developer has them at hand: lines, curl's options, JSON, or a value alone. */

/** Names in lower case, each with its values in order. */
export type HeaderValues = ReadonlyMap<string, readonly string[]>;

export const SIGNATURE_HEADER = 'x-webhook-signature';
export const STANDARD_HEADERS = { id: 'webhook-id', timestamp: 'webhook-timestamp', signature: 'webhook-signature' };

/** `Name: value`, also as curl prints or takes it: `> Name: value`, `-H "Name: value"`. */
const LINE = /^(?:[<>*]\s*|(?:-H|--header)\s+)?["']?([\w-]+)["']?\s*:\s*(.*)$/;
const QUOTED_OPTION = /^(?:-H|--header)\s+(["'])(.*)\1\s*\\?$/;

export function readHeaders(text: string): HeaderValues {
  const trimmed = text.trim();
  return collect(readJson(trimmed) ?? readAlone(trimmed) ?? readLines(text));
}

function collect(pairs: readonly (readonly [string, string])[]): HeaderValues {
  const values = new Map<string, string[]>();
  for (const [name, value] of pairs) values.set(name.toLowerCase(), [...(values.get(name.toLowerCase()) ?? []), value]);
  return values;
}

/** An object of headers, as a framework prints it. */
function readJson(text: string): readonly (readonly [string, string])[] | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const headers = JSON.parse(text) as Record<string, unknown>;
    return Object.entries(headers).flatMap(([name, value]) =>
      [value].flat().map((one) => [name, String(one)] as const),
    );
  } catch {
    return undefined;
  }
}

/** The value of a signature without its name. */
function readAlone(text: string): readonly (readonly [string, string])[] | undefined {
  if (text === '' || text.includes('\n') || text.includes(':')) return undefined;
  return [[text.startsWith('v1,') ? STANDARD_HEADERS.signature : SIGNATURE_HEADER, text]];
}

function readLines(text: string): readonly (readonly [string, string])[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const option = QUOTED_OPTION.exec(line.trim());
    const [, name, value] = LINE.exec(option?.[2] ?? line.trim()) ?? [];
    return name === undefined || value === undefined ? [] : [[name, unquoted(value)] as const];
  });
}

/** Removes the quotes and the comma that a printed object has around a value. */
function unquoted(value: string): string {
  return /^(["'])(.*)\1,?$/.exec(value)?.[2] ?? value;
}
