/**
 * Migrates the tournament service's database: `node services/tournament/src/migrate.ts`. Safe at
 * any time, even if several processes run it at once.
 */
import { migrate } from '@laurel/postgres/migrate';
import { roleOf } from '@laurel/postgres/roles';
import { databaseUrl, loadConfig } from '@laurel/service';
import { z } from 'zod';

const config = loadConfig(
  z.object({
    TOURNAMENT_DATABASE_URL: databaseUrl,
    TOURNAMENT_MIGRATION_DATABASE_URL: databaseUrl.optional(),
    // Only the user name of this URL is used: the archive's role, which gets its grants here. It
    // needs to be set only before a month is deleted.
    TOURNAMENT_ARCHIVE_DATABASE_URL: databaseUrl.optional(),
  }),
);
const archiveUrl = config.TOURNAMENT_ARCHIVE_DATABASE_URL;
const applied = await migrate({
  // If only one URL is set, the role that owns the database also runs the service; the service
  // reports that when it starts.
  url: config.TOURNAMENT_MIGRATION_DATABASE_URL ?? config.TOURNAMENT_DATABASE_URL,
  directory: new URL('../migrations/', import.meta.url),
  grants: {
    file: new URL('../grants.sql', import.meta.url),
    runningRole: roleOf(config.TOURNAMENT_DATABASE_URL),
    ...(archiveUrl !== undefined && {
      archive: { file: new URL('../archive-grants.sql', import.meta.url), role: roleOf(archiveUrl) },
    }),
  },
});
console.log(applied.length === 0 ? 'tournament: nothing to migrate' : `tournament: applied ${applied.join(', ')}`);
