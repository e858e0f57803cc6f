import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const PROGRAM = fileURLToPath(new URL('./print-statements.ts', import.meta.url));

/** A statement as a repository file contains it. */
export interface WrittenStatement {
  /**
   * Its service and name, or else its file and constant: `challenge attempts_insert`, `wallet
   * fees.ts INSERT`.
   */
  readonly label: string;
  /** The path is from the root of the repository. */
  readonly file: string;
  readonly text: string;
}

/**
 * Every statement in the repository folders of all services and libraries, found by loading their
 * files.
 */
export async function loadWrittenStatements(): Promise<readonly WrittenStatement[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM], { maxBuffer: 64 * 1024 * 1024 });
  const statements: readonly WrittenStatement[] = JSON.parse(stdout);
  return statements;
}
