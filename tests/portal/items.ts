/** What the pages of one item show. */
import { type Developer, eventually, expectStatus } from '../world.ts';

/** Ids by their names in the paths of `pages.ts`. */
export type Items = Readonly<Record<string, string>>;

export async function makeItems(developer: Developer): Promise<Items> {
  return { program: developer.program.id, request: await loggedRequest(developer) };
}

/** A request of the program that its log already lists. */
async function loggedRequest({ program, portal }: Developer): Promise<string> {
  const { headers } = expectStatus(200, await program.test.listChallenges('player-1'));
  const requestId = headers['x-request-id'] ?? '';
  await eventually(async () => {
    const { status } = await portal.send('GET', `/programs/${program.id}/requests/${requestId}`);
    return status === 200 ? true : undefined;
  }, 'the log has the request');
  return requestId;
}

/** A path of `pages.ts` with the ids of a test. */
export function fillIn(path: string, items: Items): string {
  return path.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    const id = items[name];
    if (id === undefined) throw new Error(`items.ts makes no "${name}".`);
    return id;
  });
}
