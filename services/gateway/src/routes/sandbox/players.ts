import { isRefused } from '@laurel/errors';
import type { SandboxPlayers } from '../../clients/sandbox-players.ts';
import type { WalletClient } from '../../clients/wallet.ts';
import { z } from '../../http/zod.ts';
import { component } from '../component.ts';
import { eligibilityChange, toEligibility } from '../eligibility.ts';
import { amount, day, email, jurisdiction, verificationLevel } from '../fields.ts';
import { defined } from '../run-route.ts';
import { playerRef } from '../v1/fields.ts';
import { playerLinkSchema } from '../v1/player-schemas.ts';
import { defineSandboxRoute } from './route.ts';

const player = component(
  'SandboxPlayerRequest',
  z.object({
    player_ref: playerRef,
    funds: amount.optional(),
    email: email.optional(),
    date_of_birth: day.optional(),
    jurisdiction: jurisdiction.optional(),
    verification_level: verificationLevel.optional(),
    ...eligibilityChange,
  }),
  {
    description:
      'Members that are absent stay unchanged. A new player has no funds, and nothing prevents them from playing.',
  },
);

export const putSandboxPlayer = defineSandboxRoute({
  method: 'post',
  path: '/players',
  name: 'putSandboxPlayer',
  summary: 'Create or change a sandbox player',
  description:
    'A new `player_ref` gets a new account, or, with the `email` of a sandbox account of the program, that account. For a known `player_ref` the call changes the members that are sent. Every call adds its `funds`, also a repeated one, up to a balance of 10000.00; a call that would exceed it is refused. By default the player was born in 1990, lives in `US-CA` and is fully verified. A refused call changes nothing.',
  body: player,
  success: { status: 201, description: 'The player is linked.', schema: playerLinkSchema },
  refusals: {
    not_found: 'The program may not link the account of this e-mail.',
    conflict: 'Another player has the e-mail.',
  },
  run: async ({ caller, body, options }, { sandboxPlayers }: { sandboxPlayers: SandboxPlayers }) => {
    const put = await sandboxPlayers.put(
      {
        player: { tenant: caller, playerRef: body.player_ref },
        fundsCents: body.funds ?? 0n,
        email: body.email,
        dateOfBirth: body.date_of_birth,
        jurisdiction: body.jurisdiction,
        verificationLevel: body.verification_level,
        ...toEligibility(body),
      },
      options,
    );
    if (isRefused(put)) return put;
    const createdAt = defined(put.createdAt).toISOString();
    return { body: { player_ref: body.player_ref, linked: true, created_at: createdAt } };
  },
});

export const holdNextAward = defineSandboxRoute({
  method: 'post',
  path: '/players/{playerRef}/hold-next-award',
  name: 'holdNextAward',
  summary: "Hold the player's next award for review",
  description:
    "The player's next award or purse is held for review, whatever the rules say, and an operator decides on it. If the call is repeated before then, it still holds only one. An unknown `player_ref` is 404.",
  params: z.object({ playerRef }),
  success: { status: 204, description: 'The next award or purse of the player will be held.' },
  run: async ({ caller, params: { playerRef }, options }, { wallet }: { wallet: WalletClient }) => {
    const held = await wallet.holdNextAward({ player: { tenant: caller, playerRef } }, options);
    return isRefused(held) ? held : {};
  },
});
