/**
 * The signed bytes of a receipt, and of a round's seal: the document with the id of the key that signs it, as RFC 8785 canonical JSON in
 * UTF-8. A reader makes the same bytes from any copy of the document that has the same meaning.
 */
import canonicalize from 'canonicalize';

/**
 * The canonical text that a key signs. It has `key_id`, the id of the key: under the signature, so that it cannot be replaced. Throws as
 * `canonicalJson` does.
 */
export function signedTextOf(document: object, keyId: string): string {
  return canonicalJson({ ...document, key_id: keyId });
}

export function signedBytesOf(canonical: string): Buffer {
  return Buffer.from(canonical, 'utf8');
}

/** RFC 8785. Throws on what has no canonical JSON: a number that is not finite, a text with half a surrogate pair. */
export function canonicalJson(document: object): string {
  const canonical = canonicalize(document);
  if (canonical === undefined) throw new TypeError('the document has no JSON form');
  return canonical;
}
