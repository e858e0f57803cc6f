/** HMAC-SHA256 by WebCrypto, for keys that are bytes. The SDK signs with a secret that is text. */
type Bytes = Uint8Array<ArrayBuffer>;

export async function hmac(key: Bytes, text: string): Promise<Bytes> {
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, new TextEncoder().encode(text)));
}

export function toHex(bytes: Bytes): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function toBase64(bytes: Bytes): string {
  return btoa(String.fromCharCode(...bytes));
}

/**
 * The key of Standard Webhooks, which is what follows `whsec_`, decoded as base64. Undefined if
 * that is not base64.
 */
export function standardKeyOf(secret: string): Bytes | undefined {
  try {
    const binary = atob(secret.replace(/^whsec_/, ''));
    return binary === '' ? undefined : Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** `webhook-signature` of a delivery, as a library of Standard Webhooks computes it. */
export async function signStandardly(secret: string, id: string, timestamp: string, body: string) {
  const key = standardKeyOf(secret);
  return key === undefined ? undefined : `v1,${toBase64(await hmac(key, `${id}.${timestamp}.${body}`))}`;
}

/** The bytes that an even number of hexadecimal digits spells. */
export function bytesOfHex(digits: string): Bytes {
  return Uint8Array.from(digits.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}
