/** The shapes of players. Routes check with them; the documents are generated from them. */
import { z } from '../../http/zod.ts';
import { component } from '../component.ts';
import { boundedText, playerRef, timestamp } from './fields.ts';

/**
 * This limit is higher than that for the address of an account (@laurel/values/limits). So an
 * address that is too long for an account is not found, like every other address without an
 * account.
 */
const MAX_LOOKED_UP_EMAIL_CHARACTERS = 320;

export const linkPlayerBody = component(
  'PlayerLinkRequest',
  z.object({
    player_ref: playerRef,
    email: boundedText(MAX_LOOKED_UP_EMAIL_CHARACTERS).openapi({
      description: "The e-mail of the player's existing account.",
      minLength: 1,
      maxLength: MAX_LOOKED_UP_EMAIL_CHARACTERS,
      example: 'player@example.com',
    }),
  }),
);

export const playerLinkSchema = component(
  'PlayerLink',
  z.object({ player_ref: z.string(), linked: z.literal(true), created_at: timestamp }),
);
