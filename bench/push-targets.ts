import { Laurel } from '@laurel/sdk';
import type { BenchProgram } from './paid-flow.ts';
import type { PushTarget } from './push.ts';

/**
 * Creates an active integration for each program, and returns them by program id. With so many
 * integrations, none comes near its own limits.
 */
export async function createPushTargets(
  baseUrl: string,
  programs: readonly BenchProgram[],
): Promise<ReadonlyMap<string, PushTarget>> {
  const targets = new Map<string, PushTarget>();
  for (const { programId, testKey } of programs) {
    const { integrations } = new Laurel({ apiKey: testKey, baseUrl });
    const { id, signing_secret: secret } = await integrations.create({ transport: 'push_webhook' });
    if (secret === undefined) throw new Error(`the integration ${id} has no secret`);
    await integrations.update(id, { status: 'active' });
    targets.set(programId, { id, secret });
  }
  return targets;
}
