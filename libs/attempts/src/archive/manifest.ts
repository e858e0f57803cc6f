/**
 * The manifest of a month: its files and their totals, signed by a key that Laurel publishes. The
 * manifest states its kind, so that no signed receipt or seal can pass for a manifest.
 */
import { createPublicKey, verify } from 'node:crypto';
import { canonicalJson, keyIdOf, type Signer } from '@laurel/signature';
import { isBefore } from '@laurel/values/instant';
import type { Total } from '../domain/archived-rows.ts';
import type { SigningKey } from '../repository/signing-keys.ts';
import type { WrittenFile } from './lines.ts';

export const ARCHIVE_KIND = 'archive';
export const MANIFEST_FILE = 'manifest.json';

export function fileOf(table: string): string {
  return `${table}.jsonl.zst`;
}

export interface ArchivedFile extends WrittenFile {
  readonly table: string;
  readonly name: string;
}

export interface Manifest {
  readonly kind: typeof ARCHIVE_KIND;
  readonly version: 1;
  readonly service: string;
  /** As `2026-01`. */
  readonly month: string;
  /** An id of the month is at least `least_id` and below `end_id`. */
  readonly least_id: string;
  readonly end_id: string;
  /** The instant of the snapshot, by the database's clock. */
  readonly written_at: string;
  /**
   * The newest migration of the software version that wrote the month. It determines the columns of
   * the rows.
   */
  readonly migration: string;
  readonly files: readonly ArchivedFile[];
  readonly totals: readonly Total[];
}

/** Returns the signed manifest as the text of its file. */
export function signManifest(manifest: Manifest, signer: Signer): string {
  const { canonical, signature } = signer.sign(manifest);
  return `{"manifest":${canonical},"signature":"${signature.toString('base64')}"}\n`;
}

/**
 * Returns the manifest from the text of its file. Throws if no listed key signed the manifest, or
 * if that key was not in use when the manifest was written.
 */
export function verifyManifest(text: string, keys: readonly SigningKey[]): Manifest {
  const { manifest, signature } = JSON.parse(text) as { manifest: Manifest & { key_id: string }; signature: string };
  if (manifest?.kind !== ARCHIVE_KIND || manifest.version !== 1) throw new Error('this is no manifest of an archive');
  const key = keys.find(({ publicKey }) => keyIdOf(publicKey) === manifest.key_id);
  if (key === undefined) throw new Error(`the key ${manifest.key_id} of the manifest is not listed`);
  const publicKey = createPublicKey({ key: key.publicKey, format: 'der', type: 'spki' });
  const bytes = Buffer.from(signature, 'base64');
  // Several Base64 texts decode to the same bytes; only the text that was written is accepted.
  const isWritten = bytes.toString('base64') === signature;
  if (!isWritten || !verify(null, Buffer.from(canonicalJson(manifest), 'utf8'), publicKey, bytes)) {
    throw new Error('the manifest was changed after it was signed');
  }
  const writtenAt = new Date(manifest.written_at);
  if (isBefore(writtenAt, key.from) || (key.until !== null && isBefore(key.until, writtenAt))) {
    throw new Error(`the manifest is dated outside of the period of its key ${manifest.key_id}`);
  }
  return manifest;
}
