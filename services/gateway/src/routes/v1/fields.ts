/** Fields that several resources of `/v1` share, each with its bounds. */

import { hasNul, isAtMost, isJsonObject } from '@laurel/json';
import { isUuid } from '@laurel/values/ids';
import { MAX_PLAYER_REF_CHARACTERS } from '@laurel/values/tenant';
import { z } from '../../http/zod.ts';
import { component } from '../component.ts';

export function boundedText(characters: number) {
  return z
    .string()
    .min(1, 'must not be empty')
    .refine((text) => isAtMost(text, characters), `must have at most ${characters} characters`)
    .refine((text) => !hasNul(text), 'must not contain NUL');
}

/** An object that is stored as sent. Only the partner interprets its members. */
export function opaqueObject(maxBytes: number) {
  return z.custom<object>(isJsonObject, 'must be an object').openapi({
    type: 'object',
    additionalProperties: true,
    description: `At most ${maxBytes / 1024} KiB, stored as sent.`,
  });
}

export const id = z
  .string()
  .refine(isUuid, 'must be a uuid')
  .transform((value) => value.toLowerCase())
  .openapi({ type: 'string', format: 'uuid' });

export const playerRef = boundedText(MAX_PLAYER_REF_CHARACTERS).openapi({
  description: "The partner's own identifier of a player.",
  minLength: 1,
  maxLength: MAX_PLAYER_REF_CHARACTERS,
  example: 'player-7c1',
});

export const uuid = z.string().openapi({ format: 'uuid' });

export const timestamp = z.string().openapi({ format: 'date-time', example: '2026-11-21T12:00:00.000Z' });

export const amount = component('Amount', z.string(), {
  pattern: '^(0|[1-9]\\d*)\\.\\d{2}$',
  example: '5.00',
  description: 'USD, a decimal string with two places: never a JSON number.',
});
