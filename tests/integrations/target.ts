import type { IntegrationRequest } from '@laurel/sdk';
import { createIntegrations, type Partner } from '@laurel/testing';
import { expectStatus } from '../world.ts';

/** A target is where a push is sent, and what signs it. */
export interface Target {
  readonly id: string;
  readonly secret: string;
}

/** An active push_webhook, created by the partner. */
export async function newTarget(partner: Partner, settings: Partial<IntegrationRequest> = {}): Promise<Target> {
  const integrations = createIntegrations(partner);
  const made = expectStatus(201, await integrations.create({ transport: 'push_webhook', ...settings })).body;
  expectStatus(200, await integrations.update(made.id, { status: 'active' }));
  return { id: made.id, secret: made.signing_secret ?? '' };
}

/**
 * A descriptor for reports that name a player of this challenge or round: they settle the player's
 * oldest open attempt.
 */
export function playerDescriptor(parent: { readonly challenge_id: string } | { readonly tournament_round_id: string }) {
  const [[kind, id] = ['', '']] = Object.entries(parent);
  const attempt = { player_ref: '/player', [kind]: { const: id }, pick: 'oldest' };
  return { version: 1, map: { attempt, score: '/score', tiebreak: '/tiebreak', dedupe: '/id' } };
}
