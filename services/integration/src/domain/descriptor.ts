/**
 * A descriptor: how the records of a partner's body are read, and for `pull_poll` how a page is requested. It holds JSON Pointers and no code.
 * It is parsed once; what reads bodies gets a Descriptor, in which every pointer is parsed and every default is set.
 *
 * `{}` means the canonical body. Unknown members are refused, so that a misspelt one is seen at once, unless they begin with `x-`.
 * The schema is descriptor-schema.ts; docs/contract/integrations.md explains it to partners.
 */
import { type Refused, refused, validationMessage } from '@laurel/errors';
import { isJsonObject, type PathTree, parseStrictJson } from '@laurel/json';
import { MAX_DESCRIPTOR_BYTES } from '@laurel/limits';
import { excessOf } from './descriptor-limits.ts';
import { descriptorSchema, firstIssueOf } from './descriptor-schema.ts';
import type { Transport } from './integration.ts';
import type { JsonPointer } from './json-pointer.ts';

/** How a number is written: as a JSON number, or in a string. */
export type NumberSource = { readonly pointer: JsonPointer; readonly as: 'number' | 'numeric_string' };

/** Text that is read, or the same for all records. */
export type TextSource = { readonly pointer: JsonPointer } | { readonly const: string };

/** A record is for us if the value at the pointer is one of these. */
export type Condition = {
  readonly pointer: JsonPointer;
  readonly in: readonly (string | number | boolean | null)[];
};

/** Which attempt a record reports: the one of an id, or one that the player has open. */
export type AttemptSource =
  | { readonly kind: 'id'; readonly attemptId: JsonPointer }
  | {
      readonly kind: 'player';
      readonly playerRef: JsonPointer;
      readonly parent: { readonly kind: 'challenge' | 'round'; readonly id: TextSource };
      readonly pick: 'only' | 'oldest';
    };

/** One object of the record as it was sent, or an object of the descriptor's own names. */
export type EvidenceSource = { readonly kind: 'object'; readonly pointer: JsonPointer } | EvidenceMembers;

export type EvidenceMembers = {
  readonly kind: 'members';
  readonly members: readonly EvidenceMember[];
  /** Of the pointers, each under the place of its member. */
  readonly paths: PathTree;
};

/** Its name and its constant as JSON text; the constant is null where a pointer leads to the value. */
export type EvidenceMember = { readonly nameText: string; readonly constText: string | null };

/** How a record is read. Every pointer but `records` begins at the record. */
export type RecordMap = {
  readonly records: JsonPointer;
  readonly when: readonly Condition[];
  readonly attempt: AttemptSource;
  readonly score: NumberSource;
  readonly tiebreak: NumberSource | null;
  readonly evidence: EvidenceSource | null;
  readonly dedupe: JsonPointer | null;
};

/** How a request proves who sends it. `secret` is null where the descriptor is the stored one, which never has it. */
export type PullAuth =
  | { readonly type: 'none' }
  | { readonly type: 'header'; readonly name: string; readonly secret: string | null }
  | { readonly type: 'bearer'; readonly secret: string | null }
  | { readonly type: 'basic'; readonly username: string; readonly secret: string | null };

/** Whether the next page has newer records or older ones. */
export type PageOrder = 'oldest_first' | 'newest_first';

/** How a poll goes on: see paging.ts. */
export type Paging =
  | { readonly type: 'none' }
  /** The page names the next cursor; it is sent as the query parameter `param`. */
  | { readonly type: 'cursor'; readonly param: string; readonly pointer: JsonPointer; readonly order: PageOrder }
  /** The page names the next URL. */
  | { readonly type: 'next_url'; readonly pointer: JsonPointer; readonly order: PageOrder }
  /** The last record's value is sent as the query parameter `param`; `initial` before there is one. */
  | { readonly type: 'since'; readonly param: string; readonly pointer: JsonPointer; readonly initial: string | null };

export type Pull = {
  /** As it was given, an absolute URL. Whether it may be called is checked where it is saved and where it is called. */
  readonly url: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth: PullAuth;
  readonly paging: Paging;
  readonly maxPages: number;
};

export type Descriptor = {
  readonly map: RecordMap;
  /** Null unless the transport is `pull_poll` and an address is given. */
  readonly pull: Pull | null;
};

/** Reads a descriptor that a call brings, to save it or to try it out: also by the limits that a stored one may exceed. */
export function parseSentDescriptor(text: string, transport: Transport): Descriptor | Refused {
  return parseText(text, transport, { excess: excessOf, allowsNul: false });
}

/** Reads the text of a descriptor that is stored: what is refused today may have been saved before. */
export function parseDescriptorText(text: string, transport: Transport): Descriptor | Refused {
  return parseText(text, transport, { excess: () => null, allowsNul: true });
}

function parseText(
  text: string,
  transport: Transport,
  { excess, allowsNul }: { readonly excess: typeof excessOf; readonly allowsNul: boolean },
): Descriptor | Refused {
  const bytes = Buffer.from(text);
  if (bytes.length > MAX_DESCRIPTOR_BYTES) return tooLarge();
  const json = parseStrictJson(bytes, { allowsNul });
  if (json.kind === 'invalid') return refused('invalid_request', json.message.replace('The body', 'The descriptor'));
  const message = excess(json.value);
  return message === null ? parseDescriptor(json.value, transport) : refused('invalid_request', message);
}

/** Reads a descriptor that is parsed JSON, as the database keeps it. */
export function parseDescriptor(json: unknown, transport: Transport): Descriptor | Refused {
  if (!isJsonObject(json)) return refused('invalid_request', 'The descriptor must be an object.');
  if (Buffer.byteLength(JSON.stringify(json)) > MAX_DESCRIPTOR_BYTES) return tooLarge();
  const parsed = descriptorSchema.safeParse(json, { error: validationMessage });
  if (!parsed.success) return refused('invalid_request', firstIssueOf(parsed.error));
  if (parsed.data.pull !== null && transport !== 'pull_poll') {
    return refused('invalid_request', 'The descriptor is not valid: `pull` belongs to the transport `pull_poll`.');
  }
  return parsed.data;
}

function tooLarge(): Refused {
  return refused('invalid_request', `The descriptor is larger than ${MAX_DESCRIPTOR_BYTES / 1024} KiB.`);
}
