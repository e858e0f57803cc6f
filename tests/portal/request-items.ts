/** A request for the pages of the request log. */
import { type Developer, eventually, expectStatus } from '../world.ts';

/** The id of a request of the program that its log already lists. */
export async function newLoggedRequest({ program, portal }: Developer): Promise<string> {
  const { headers } = expectStatus(200, await program.test.listChallenges('player-1'));
  const requestId = headers['x-request-id'] ?? '';
  await eventually(async () => {
    const { status } = await portal.send('GET', `/programs/${program.id}/requests/${requestId}`);
    return status === 200 ? true : undefined;
  }, 'the log has the request');
  return requestId;
}
