/**
 * Starts what a contest service needs before its own parts: the wallet client, the outbox of
 * events, and the key that signs receipts.
 */
import { connectEvents, createOutbox, type Outbox } from '@laurel/events';
import { type Foundation, startWorkers } from '@laurel/service';
import { createSigner, type Signer } from '@laurel/signature';
import type { ContestServiceName } from '@laurel/values/ids';
import { EXTENSION_INTERVAL_MS, extendSigningKey, putSigningKey } from './repository/signing-keys.ts';
import { connectWallet, type Wallet } from './wallet.ts';

/** The settings that settings.ts parses. */
export interface ContestServiceSettings {
  readonly WALLET_ADDRESS: string;
  readonly NATS_URL: string;
  readonly NATS_CA_FILE?: string | undefined;
  readonly EVENTS_PREFIX: string;
  readonly OUTBOX_REPUBLISH_AFTER_MS: number;
  readonly RECEIPT_SIGNING_SEED: Buffer;
}

export interface ContestServiceFoundation<Name extends ContestServiceName> extends Foundation {
  readonly contestService: Name;
  readonly wallet: Wallet;
  readonly outbox: Outbox;
  readonly signer: Signer;
  readonly signingKeyId: number;
}

export async function startContestService<Name extends ContestServiceName>(
  contestService: Name,
  config: ContestServiceSettings,
  foundation: Foundation,
): Promise<ContestServiceFoundation<Name>> {
  const { database, logger, started } = foundation;
  const wallet = started.use(connectWallet(config.WALLET_ADDRESS, foundation));
  const { NATS_URL: url, NATS_CA_FILE: caFile, EVENTS_PREFIX: prefix } = config;
  const stream = started.use(connectEvents({ url, caFile, prefix, name: `laurel-${contestService}`, logger }));
  // The outbox starts first, so that it ends last: parts that start later may publish until they
  // end.
  const republishAfterMs = config.OUTBOX_REPUBLISH_AFTER_MS;
  const outbox = started.use(createOutbox({ owner: contestService, database, stream, logger, republishAfterMs }));
  const signer = createSigner(config.RECEIPT_SIGNING_SEED);
  const signingKeyId = await putSigningKey(database, signer.publicKey);
  const extend = () => extendSigningKey(database, signingKeyId);
  startWorkers(foundation, [{ name: 'extend-signing-key', intervalMs: EXTENSION_INTERVAL_MS, runOnce: extend }]);
  return { ...foundation, contestService, wallet, outbox, signer, signingKeyId };
}
