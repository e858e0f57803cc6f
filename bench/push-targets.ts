import { createIntegrations, createPartner, type HttpClient } from '@laurel/testing';
import type { BenchProgram } from './paid-flow.ts';
import type { PushTarget } from './push.ts';

/** An active integration of each program, by the program's id: so many that none of them comes near its own limits. */
export async function createPushTargets(
  http: HttpClient,
  programs: readonly BenchProgram[],
): Promise<ReadonlyMap<string, PushTarget>> {
  const targets = new Map<string, PushTarget>();
  for (const { programId, testKey } of programs) {
    const integrations = createIntegrations(createPartner(http, testKey));
    const { status, text, body } = await integrations.create({ transport: 'push_webhook' });
    if (status !== 201 || body.signing_secret === undefined) throw new Error(`no integration: ${status} ${text}`);
    const activated = await integrations.update(body.id, { status: 'active' });
    if (activated.status !== 200) throw new Error(`not activated: ${activated.status} ${activated.text}`);
    targets.set(programId, { id: body.id, secret: body.signing_secret });
  }
  return targets;
}
