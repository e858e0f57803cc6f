/**
 * What the commands share: settings from the environment, arguments, and errors that end a command
 * with a sentence.
 */
import { type ParseArgsConfig, parseArgs } from 'node:util';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * `refused`: what was checked is not valid, or Laurel refused the request. `notDone`: nothing was
 * checked or begun.
 */
export const EXIT_CODES = { done: 0, refused: 1, notDone: 2 } as const;

/** Ends a command. Its message is for a person, and contains no key or secret. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT_CODES.notDone) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** `parseArgs`, with the usage instead of a stack trace if the arguments are invalid. */
export function readArguments<Config extends ParseArgsConfig>(
  config: Config,
  help: string,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new CommandError(`${(error as Error).message}\n\n${help}`);
  }
}

/** The value; null if the variable is unset or empty. */
export function settingOf(environment: Environment, name: string): string | null {
  return environment[name] || null;
}

export function requiredSetting(environment: Environment, name: string, what: string): string {
  const value = settingOf(environment, name);
  if (value === null) throw new CommandError(`${name} is not set: ${what}.`);
  return value;
}

/** LAUREL_BASE_URL, with or without `/v1`, as an origin and path without a final slash. */
export function baseUrlOf(value: string): string {
  const url = httpUrlOf(value);
  if (url === null) throw new CommandError('LAUREL_BASE_URL is not an address like https://api.example.com.');
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/v1$/, '');
}

/**
 * Null if the text is not an http or https address, or has a user or password, which would be
 * printed.
 */
export function httpUrlOf(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return null;
  return url;
}

/** The messages of an error and of its cause, which has `fetch`'s reason. */
export function messageOf(error: unknown): string {
  const { message, cause } = error as Error;
  if (!(cause instanceof Error)) return message;
  const { code } = cause as NodeJS.ErrnoException;
  return `${message}: ${cause.message || code}`;
}
