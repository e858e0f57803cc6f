/** Reads for the tests of boards and of a round's end. */
import type { Tenant } from '@laurel/proto/common';
import type { GetLeaderboardResponse, LeaderboardRow, Round } from '@laurel/proto/tournament';
import { expectAccepted, type SignedReceipt, type TestPlayer, verdictOnReceipt } from '@laurel/testing';
import { created, type Harness, PROGRAM, recorded, SIGNER } from './tournament.fixture.ts';

/** The board as this player may see it; without a player by default. */
export async function boardOf(
  h: Pick<Harness, 'tournament'>,
  roundId: string,
  playerRef = '',
  tenant: Tenant = PROGRAM,
): Promise<GetLeaderboardResponse> {
  return expectAccepted(await h.tournament.getLeaderboard({ tenant, roundId, playerRef }));
}

/** The complete table, page by page. */
export async function tableOf(
  h: Pick<Harness, 'tournament'>,
  roundId: string,
  limit = 2_000,
): Promise<readonly LeaderboardRow[]> {
  const rows: LeaderboardRow[] = [];
  for (let cursor = Buffer.alloc(0); ; ) {
    const page = expectAccepted(await h.tournament.listStandings({ tenant: PROGRAM, roundId, cursor, limit }));
    rows.push(...page.rows);
    if (page.nextCursor.length === 0) return rows;
    cursor = Buffer.from(page.nextCursor);
  }
}

/** The round as every viewer may see it. */
export async function roundOf(h: Pick<Harness, 'tournament'>, roundId: string): Promise<Round> {
  const { round } = await boardOf(h, roundId);
  if (round === undefined) throw new Error('the response has no round');
  return round;
}

/** Plays one scored attempt of the player. Returns the receipt of its outcome. */
export async function play(
  h: Pick<Harness, 'create' | 'report'>,
  roundId: string,
  { ref }: Pick<TestPlayer, 'ref'>,
  score: number,
  options?: { readonly tiebreak?: number; readonly evidence?: string },
): Promise<string> {
  const attempt = created(await h.create(roundId, ref));
  return recorded(await h.report(attempt.id, score, options)).receiptId;
}

/** The status of the attempt, as GetAttempt returns it. */
export async function statusOf(h: Pick<Harness, 'tournament'>, attemptId: string): Promise<number | undefined> {
  return expectAccepted(await h.tournament.getAttempt({ tenant: PROGRAM, attemptId })).attempt?.status;
}

/**
 * A receipt as the operator reads it: what was signed, and the seal as JSON, or null if there is
 * none yet.
 */
export async function receiptOf(h: Pick<Harness, 'tournament'>, receiptId: string) {
  const { receiptJson, seal, ...signed } = expectAccepted(await h.tournament.getReceipt({ receiptId }));
  return {
    canonical: receiptJson,
    ...signed,
    seal:
      seal === undefined
        ? null
        : {
            statement: JSON.parse(seal.statementJson),
            signature: seal.signature.toString('base64'),
            public_key: seal.publicKey.toString('base64'),
            leaf: JSON.parse(seal.leafJson),
            leaf_index: Number(seal.leafIndex),
            proof: seal.proof.map((hash) => hash.toString('hex')),
          },
  };
}

/** How the sealed round counted the receipt. Throws if the seal does not prove it. */
export async function countedBy(signed: Pick<SignedReceipt, 'canonical' | 'signature'>, seal: unknown) {
  const verdict = await verdictOnReceipt({ ...signed, publicKey: SIGNER.publicKey, seal });
  if (verdict.kind === 'not_valid') throw new Error(verdict.reason);
  if (verdict.counted === null) throw new Error('the receipt has no seal');
  return verdict.counted.seal;
}
