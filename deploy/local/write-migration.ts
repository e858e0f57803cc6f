/**
 * `npm run migration -- wallet add_payout_notes` creates the next migration of a service.
 * CONTRIBUTING.md has the rules for its content.
 */
import { fileURLToPath } from 'node:url';
import { writeMigration } from './migration-file.ts';
import { StartFailure } from './stack/start-failure.ts';

try {
  const file = writeMigration(fileURLToPath(new URL('../..', import.meta.url)), process.argv[2], process.argv[3]);
  console.log(`${file}: write it, then \`npm run schema\`, and add the grants of a new table or column to grants.sql.`);
} catch (error) {
  if (!(error instanceof StartFailure)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
