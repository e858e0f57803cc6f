/** The seal of an archived receipt, proven from the files of its month as GetReceipt proves it. */
import { type ArchivedRow, type ArchivedRowsOf, bytesOf } from '@laurel/attempts/domain';
import { BLOCK_LEAVES, proveInclusion } from '@laurel/signature';
import { readLeaves } from './archived-round.ts';

/** As JSON, as the API responds with it; null for a receipt of a cancelled round. */
export async function archivedSealOf(outcome: ArchivedRow, rows: ArchivedRowsOf): Promise<string | null> {
  const { tournament_round_id: roundId } = JSON.parse(String(outcome.receipt)) as ArchivedRow;
  const [seal] = await rowsOf(rows('seals'), (row) => row.round_id === roundId);
  if (seal === undefined) return null;
  const [key] = await rowsOf(rows('signing_keys'), (row) => row.id === seal.signing_key_id);
  const nodes = await rowsOf(rows('seal_nodes'), (row) => row.round_id === roundId);

  const leaves = await readLeaves(String(roundId), rows);
  const index = leaves.findIndex(({ attemptId }) => attemptId === outcome.attempt_id);
  const start = index - (index % BLOCK_LEAVES);
  const proof = proveInclusion({
    index,
    leaves: leaves.length,
    block: leaves.slice(start, start + BLOCK_LEAVES).map(({ text }) => text),
    blockRoots: nodes.map((node) => bytesOf(node.hash)),
  });
  const signed = {
    signature: bytesOf(seal.signature).toString('base64'),
    public_key: bytesOf(key?.public_key).toString('base64'),
  };
  const way = { leaf_index: index, proof: proof.map((node) => node.toString('hex')) };
  return `{"statement":${seal.statement},${membersOf(signed)},"leaf":${leaves[index]?.text},${membersOf(way)}}`;
}

async function rowsOf(
  rows: AsyncIterable<ArchivedRow>,
  isWanted: (row: ArchivedRow) => boolean,
): Promise<readonly ArchivedRow[]> {
  const found: ArchivedRow[] = [];
  for await (const row of rows) if (isWanted(row)) found.push(row);
  return found;
}

function membersOf(fields: object): string {
  return JSON.stringify(fields).slice(1, -1);
}
