/** Bytes in base64 and hexadecimal, with what every runtime has. */

/**
 * The type `Uint8Array<ArrayBuffer>`, written so that TypeScript before 5.7 accepts it too: there
 * `Uint8Array` is not generic.
 */
export type Bytes = ReturnType<InstanceType<typeof TextEncoder>['encode']>;

/**
 * Decodes base64. Null if the text is not base64, or not the one canonical spelling of its bytes:
 * it then has white space or loose bits, or lacks padding.
 */
export function fromBase64(text: string): Bytes | null {
  if (typeof text !== 'string') return null;
  try {
    const binary = atob(text);
    return btoa(binary) === text ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : null;
  } catch {
    return null;
  }
}

/** Decodes hexadecimal text; null for other text. */
export function fromHex(text: string): Bytes | null {
  if (typeof text !== 'string' || !/^(?:[0-9a-f]{2})*$/i.test(text)) return null;
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

/** The bytes in lower-case hexadecimal. */
export function toHex(bytes: Bytes): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

export function areEqual(one: Bytes, other: Bytes): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
