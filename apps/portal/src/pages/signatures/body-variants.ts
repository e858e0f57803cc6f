/** What a body may have been before something on its way changed it. */
import type { FindingCode } from './findings.ts';

/** Laurel writes amounts with two places, which a parser drops: `25.00` becomes 25. */
const AMOUNT = /("(?:amount|purse)":)(-?\d+(?:\.\d+)?)(?=[,}])/g;

export interface BodyVariant {
  readonly code: FindingCode;
  readonly body: string;
}

/** Other texts that may have been signed in place of the body. */
export function variantsOf(body: string): readonly BodyVariant[] {
  const parsed = parse(body.replace(/^\ufeff/, ''));
  const variants: readonly BodyVariant[] = [
    { code: 'body_mark', body: body.replace(/^\ufeff/, '') },
    { code: 'body_padded', body: body.trim() },
    { code: 'body_padded', body: `${body}\n` },
    ...(typeof parsed === 'string' ? [{ code: 'body_quoted', body: parsed } as const] : []),
    ...(isObject(parsed) ? printed(parsed).map((text) => ({ code: 'body_reserialised', body: text }) as const) : []),
  ];
  return variants.filter((variant) => variant.body !== body && variant.body !== '');
}

/**
 * Whether Laurel cannot have sent the body: white space, another order, an amount without cents.
 */
export function looksRewritten(body: string): boolean {
  const parsed = parse(body);
  if (!isObject(parsed)) return false;
  return Object.keys(parsed)[0] !== 'event' || withCents(JSON.stringify(parsed)) !== body;
}

function printed(parsed: Readonly<Record<string, unknown>>): readonly string[] {
  const { event, timestamp, data, ...rest } = parsed;
  const texts = [JSON.stringify(parsed), JSON.stringify({ event, timestamp, data, ...rest })];
  return [...texts, ...texts.map(withCents)];
}

function withCents(text: string): string {
  return text.replace(AMOUNT, (_all, name: string, amount: string) => `${name}${Number(amount).toFixed(2)}`);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
