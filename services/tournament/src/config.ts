/** The configuration that the tournament service reads from its environment. */
import { contestServiceSettings } from '@laurel/attempts';
import { checkChannels, databaseUrl, positiveInt } from '@laurel/service';
import { z } from 'zod';

export const tournamentConfigSchema = z
  .object({
    ...contestServiceSettings,
    TOURNAMENT_DATABASE_URL: databaseUrl,
    TOURNAMENT_DATABASE_POOL: positiveInt.default(8),
  })
  .superRefine(checkChannels);

export type TournamentConfig = z.output<typeof tournamentConfigSchema>;
