/**
 * Migrates the challenge service's database: `node services/challenge/src/migrate.ts`. Safe at any
 * time, and concurrently.
 */
import { migrate } from '@laurel/postgres/migrate';
import { roleOf } from '@laurel/postgres/roles';
import { databaseUrl, loadConfig } from '@laurel/service';
import { z } from 'zod';

const config = loadConfig(
  z.object({
    CHALLENGE_DATABASE_URL: databaseUrl,
    CHALLENGE_MIGRATION_DATABASE_URL: databaseUrl.optional(),
    // Only the user name of this URL is used: the archive's role, which gets its grants here. It
    // needs to be set only before a month is deleted.
    CHALLENGE_ARCHIVE_DATABASE_URL: databaseUrl.optional(),
  }),
);
const archiveUrl = config.CHALLENGE_ARCHIVE_DATABASE_URL;
const applied = await migrate({
  // If only one URL is set, the role that owns the database also runs the service; the service
  // reports that when it starts.
  url: config.CHALLENGE_MIGRATION_DATABASE_URL ?? config.CHALLENGE_DATABASE_URL,
  directory: new URL('../migrations/', import.meta.url),
  grants: {
    file: new URL('../grants.sql', import.meta.url),
    runningRole: roleOf(config.CHALLENGE_DATABASE_URL),
    ...(archiveUrl !== undefined && {
      archive: { file: new URL('../archive-grants.sql', import.meta.url), role: roleOf(archiveUrl) },
    }),
  },
});
console.log(applied.length === 0 ? 'challenge: nothing to migrate' : `challenge: applied ${applied.join(', ')}`);
