/** Checks JSON that a developer types, before it is sent. */

export type JsonCheck = { readonly value: unknown; readonly error?: never } | { readonly error: string };

const MAX_DESCRIPTOR_BYTES = 16 * 1024;

export function checkJson(text: string): JsonCheck {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { error: text.trim() === '' ? 'Enter JSON.' : `Not valid JSON: ${(error as Error).message}` };
  }
}

/**
 * Checks only that the text is a JSON object and not too long. The server checks the members; a dry
 * run shows its findings.
 */
export function checkDescriptor(text: string): JsonCheck {
  const checked = checkJson(text);
  if (checked.error !== undefined) return checked;
  const { value } = checked;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { error: 'A descriptor is an object: {} reads the canonical body.' };
  }
  const bytes = new TextEncoder().encode(text).length;
  return bytes > MAX_DESCRIPTOR_BYTES ? { error: `${bytes} bytes: a descriptor has at most 16 KiB.` } : checked;
}

/**
 * Whether the browser has rounded a whole number of a value from the server. Saving the value would
 * then change it.
 */
export function hasRoundedNumber(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasRoundedNumber);
}
