/** The commands of `laurel`, their help and their exit codes. */
import { CommandError, type Environment, EXIT_CODES } from './command.ts';
import { LISTEN_HELP, listen } from './listen.ts';
import { VERIFY_RECEIPT_HELP, verifyReceiptFile } from './verify-receipt-file.ts';
import { VERIFY_WEBHOOK_HELP, verifyWebhookInput } from './verify-webhook-input.ts';

const HELP = `usage: laurel <command> [options]

  listen           forwards the events of your sandbox to a server on your machine
  verify-webhook   checks the signature of a webhook's body
  verify-receipt   checks a receipt, offline

laurel <command> --help explains a command.
`;

const COMMANDS: Readonly<
  Record<string, { readonly help: string; run(argv: readonly string[], environment: Environment): Promise<number> }>
> = {
  listen: { help: LISTEN_HELP, run: listen },
  'verify-webhook': { help: VERIFY_WEBHOOK_HELP, run: verifyWebhookInput },
  'verify-receipt': { help: VERIFY_RECEIPT_HELP, run: verifyReceiptFile },
};

/**
 * Runs the command that the arguments name, and returns its exit code. Its output never contains
 * keys or secrets.
 */
export async function run(argv: readonly string[], environment: Environment): Promise<number> {
  const [name = '', ...rest] = argv;
  if (name === '--help' || name === '-h') return print(HELP);
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    process.stderr.write(HELP);
    return EXIT_CODES.notDone;
  }
  if (rest.includes('--help') || rest.includes('-h')) return print(command.help);
  try {
    return await command.run(rest, environment);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return error.exitCode;
  }
}

function print(text: string): number {
  process.stdout.write(text);
  return EXIT_CODES.done;
}
