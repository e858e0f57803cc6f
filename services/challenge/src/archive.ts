/**
 * `npm run archive`: writes the months of this service into files, signed and verified
 * (libs/attempts/src/archive). It deletes nothing.
 *
 *   --before 2026-01 --to FOLDER      writes each month before that one that FOLDER lacks, and
 *                                     verifies each that it has; needs CHALLENGE_DATABASE_URL and
 *                                     RECEIPT_SIGNING_SEED
 *   --verify FOLDER --keys FILE       verifies one month, FOLDER/challenge/2025-12, without the
 *                                     database; FILE is /.well-known/laurel-keys.json
 *   --receipt ID --month FOLDER       prints a receipt of that month for `npm run verify-receipt`
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { ArchiveRefusedError, findArchivedReceipt, verifyMonth } from '@laurel/attempts/archive';
import { createDatabase } from '@laurel/postgres';
import { databaseUrl, loadConfig, secretKey } from '@laurel/service';
import { createSigner } from '@laurel/signature';
import { z } from 'zod';
import { archivedMonths, writeMonthsBefore } from './archived-months.ts';

const USAGE = `usage: npm run archive -- --before 2026-01 --to FOLDER
       npm run archive -- --verify FOLDER/challenge/2025-12 --keys FILE
       npm run archive -- --receipt ID --month FOLDER/challenge/2025-12`;
/** A run waits for the disk and for other statements; nothing waits for a run. */
const TIMEOUT_MS = 12 * 3_600_000;

const option = { type: 'string' } as const;
const { values } = parseArgs({
  options: { before: option, to: option, verify: option, keys: option, receipt: option, month: option },
});

try {
  process.exitCode = await run();
} catch (error) {
  if (!(error instanceof ArchiveRefusedError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function run(): Promise<number> {
  const { before, to, verify, keys, receipt, month } = values;
  if (before !== undefined && to !== undefined) return await write(before, to);
  if (verify !== undefined && keys !== undefined) return await verifyAlone(verify, keys);
  if (receipt !== undefined && month !== undefined) return await print(receipt, month);
  console.error(USAGE);
  return 2;
}

async function write(before: string, root: string): Promise<number> {
  const config = loadConfig(z.object({ CHALLENGE_DATABASE_URL: databaseUrl, RECEIPT_SIGNING_SEED: secretKey }));
  await using database = createDatabase({
    url: config.CHALLENGE_DATABASE_URL,
    // One holds the lock, the other reads.
    maxConnections: 2,
    applicationName: 'archive',
    statementTimeoutMs: TIMEOUT_MS,
  });
  const signer = createSigner(config.RECEIPT_SIGNING_SEED);
  for await (const { month, isNew, rows, bytes } of writeMonthsBefore(before, { database, signer, root })) {
    console.log(
      `${month}: ${isNew ? 'written and verified' : 'was there, verified again'}, ${rows} rows, ${bytes} bytes`,
    );
  }
  return 0;
}

async function verifyAlone(folder: string, file: string): Promise<number> {
  const list = JSON.parse(await readFile(file, 'utf8')) as {
    keys: Record<'public_key' | 'from' | 'until', string | null>[];
  };
  const keys = list.keys.map(({ public_key: publicKey, from, until }) => ({
    publicKey: Buffer.from(publicKey ?? '', 'base64'),
    from: new Date(from ?? ''),
    until: until === null ? null : new Date(until),
  }));
  try {
    const { month, service } = await verifyMonth(folder, { tables: archivedMonths, keys });
    console.log(`VALID: ${month} of the service ${service}, unchanged since it was signed`);
    return 0;
  } catch (error) {
    console.error(`NOT VALID: ${(error as Error).message}`);
    return 1;
  }
}

async function print(receiptId: string, folder: string): Promise<number> {
  const found = await findArchivedReceipt(folder, receiptId.toLowerCase());
  if (found === null) {
    console.error(`${folder} has no receipt ${receiptId}`);
    return 1;
  }
  process.stdout.write(`{"receipt":${found.receipt},"signature":"${found.signature.toString('base64')}"}\n`);
  return 0;
}
