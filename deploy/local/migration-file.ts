/**
 * The next migration of a service: `NNNN_<name>.sql`, which opens with a comment on what it changes
 * and why.
 */
import { existsSync, globSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartFailure } from './stack/start-failure.ts';

const NAME = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;
const MAX_NAME_CHARACTERS = 60;
/**
 * A new file has this until its author replaces it. `migration-file.test.ts` refuses a migration
 * that still contains it.
 */
export const PLACEHOLDER =
  '-- <What this changes, and why; how the release before this one goes on working beside it.>';

/**
 * Writes the file and returns its path. Throws StartFailure for an invalid name or an unknown
 * service.
 */
export function writeMigration(root: string, service: string | undefined, name: string | undefined): string {
  const services = globSync('services/*/migrations', { cwd: root })
    .map((folder) => folder.split('/')[1] ?? '')
    .toSorted();
  if (service === undefined || name === undefined || !services.includes(service)) {
    throw new StartFailure(
      `Usage: npm run migration -- <service> <name>, the service being one of ${services.join(', ')}.`,
    );
  }
  if (!NAME.test(name) || name.length > MAX_NAME_CHARACTERS) {
    throw new StartFailure(
      `"${name}" is not a name for a migration: lower-case words with underscores, at most ${MAX_NAME_CHARACTERS} characters, like add_payout_notes.`,
    );
  }
  const folder = join(root, 'services', service, 'migrations');
  const numbers = readdirSync(folder).map((file) => Number(/^(\d{4})_.+\.sql$/.exec(file)?.[1] ?? 0));
  const number = String(Math.max(0, ...numbers) + 1).padStart(4, '0');
  const file = join(folder, `${number}_${name}.sql`);
  const sameName = readdirSync(folder).find((other) => other.slice(5) === `${name}.sql`);
  if (sameName !== undefined || existsSync(file)) {
    throw new StartFailure(`services/${service}/migrations/${sameName} has this name already: choose another.`);
  }
  writeFileSync(file, `${PLACEHOLDER}\n`, { flag: 'wx' });
  return file;
}
