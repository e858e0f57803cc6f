/**
 * The signed bytes of a receipt or a round's seal: the document with the id of its key, as RFC 8785
 * canonical JSON in UTF-8. Readers derive the same bytes from any copy of the document with the
 * same meaning.
 */
import canonicalize from 'canonicalize';

/**
 * The canonical text that a key signs. It contains `key_id`, so that nobody can replace the id
 * without breaking the signature. Throws like `canonicalJson`.
 */
export function signedTextOf(document: object, keyId: string): string {
  return canonicalJson({ ...document, key_id: keyId });
}

export function signedBytesOf(canonical: string): Buffer {
  return Buffer.from(canonical, 'utf8');
}

/**
 * The document as canonical JSON (RFC 8785). Throws if there is none, because the document contains
 * a number that is not finite or half of a surrogate pair.
 */
export function canonicalJson(document: object): string {
  const canonical = canonicalize(document);
  if (canonical === undefined) throw new TypeError('the document has no JSON form');
  return canonical;
}
