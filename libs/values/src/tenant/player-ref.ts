/**
 * A player's name in the partner's game: 1 to 255 characters without NUL
 * (docs/contract/partner-api.md, "What Laurel does").
 */
import { isStorable } from '@laurel/json';

export const MAX_PLAYER_REF_CHARACTERS = 255;

export function isPlayerRef(text: string): boolean {
  return text !== '' && isStorable(text, MAX_PLAYER_REF_CHARACTERS);
}
