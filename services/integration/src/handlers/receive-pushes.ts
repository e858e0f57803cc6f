/**
 * ReceivePushes: verifies, reads and settles the bodies that partners' servers posted. A batch of pushes takes one read of their integrations;
 * what follows is coalesced record by record (commits/settle-records.ts), and the log is written behind the answer.
 *
 * A caller that cannot sign learns nothing: an id without an integration, a header that is missing or malformed, and another signature are refused
 * alike, after the same work. While a secret does not open, a push that may be signed with it fails, so that its partner sends it again.
 */
import { DecryptionError, type Encryption } from '@laurel/encryption';
import { isRefused, type Refused, refused } from '@laurel/errors';
import { type Handlers, parseItems, presentTenant } from '@laurel/grpc';
import { isUuid, newId } from '@laurel/ids';
import { excerptOf } from '@laurel/json';
import type { Database } from '@laurel/postgres';
import type { IntegrationServiceService, Push, PushResult } from '@laurel/proto/integration';
import type { Clock, Logger } from '@laurel/service';
import type { RecordEnd, RecordSettler } from '../commits/settle-records.ts';
import { refusePush } from '../domain/push-admission.ts';
import { isSigned, isWellFormedSignature } from '../domain/push-signature.ts';
import { costOf, readBody } from '../domain/read-body.ts';
import type { RecordResult } from '../domain/record-result.ts';
import { secretOwner } from '../domain/signing-secret.ts';
import type { Turns } from '../domain/turns.ts';
import { failpoint } from '../failpoints.ts';
import { loadPushedIntegrations, type PushedIntegration } from '../repository/pushed-integrations.ts';
import type { LogWriter } from '../workers/write-log.ts';
import { createDescriptorCache } from './descriptor-cache.ts';
import { presentRecord } from './present-record.ts';

type Deps = {
  readonly database: Database;
  readonly encryption: Encryption;
  readonly settler: RecordSettler;
  readonly log: LogWriter;
  readonly turns: Turns;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** What a push is answered, and what the log states of it. */
type Answer = {
  readonly result: PushResult['result'];
  readonly error: string | null;
  readonly records: RecordResult[];
  /** Beyond the bytes of the body. */
  readonly extraCostBytes: number;
};

/** Whose integration it is, nobody learns without a valid signature. */
const UNPROVED = { tenant: undefined, extraCostBytes: 0n };
const NOTHING = { records: [], extraCostBytes: 0 };

const UNAUTHORIZED = refused('unauthorized', 'The signature is missing or not valid.');

/** An unreadable secret is logged so often for an integration at most, because any caller can push to it. */
const UNREADABLE_LOGGED_EVERY_MS = 60_000;

/** No integration has this id: it is looked for in place of an id that is no uuid. */
const NO_INTEGRATION = '00000000-0000-0000-0000-000000000000';

export function receivePushes(deps: Deps): Handlers<IntegrationServiceService>['receivePushes'] {
  const { database, log, turns, clock, logger } = deps;
  const secretsOf = createSecretReader(deps.encryption);
  const logUnreadable = createUnreadableLog(deps);
  const descriptorOf = createDescriptorCache();

  async function receive(push: Push, integration: PushedIntegration | null): Promise<PushResult> {
    // Behind a malformed signature no secret is read, so that one that does not open makes no difference.
    const { secrets, unreadable } = secretsOf(isWellFormedSignature(push.signature) ? integration : null);
    const isVerified = isSigned(push, secrets);
    if (integration !== null && !isVerified && unreadable !== null) {
      logUnreadable(push.requestId, integration.id, unreadable);
      return { ...UNPROVED, result: presentFailure(unreadable) };
    }
    if (integration === null || !isVerified) return { ...UNPROVED, result: present(UNAUTHORIZED) };
    const at = clock();
    const answer = await answerOf(push, integration).catch(
      (error: unknown): Answer => ({ ...NOTHING, result: failed(push, error), error: 'internal_error' }),
    );
    log.add({
      id: newId(at),
      integrationId: integration.id,
      kind: 'push',
      at,
      bodyExcerpt: excerptOf(push.body),
      error: answer.error,
      records: answer.records,
    });
    const { result, extraCostBytes } = answer;
    return { result, tenant: presentTenant(integration.tenant), extraCostBytes: BigInt(extraCostBytes) };
  }

  function failed({ requestId, integrationId }: Push, error: unknown): PushResult['result'] {
    logger.error({ err: error, requestId, integrationId }, 'push failed');
    return presentFailure(error);
  }

  async function answerOf({ body, requestId }: Push, integration: PushedIntegration): Promise<Answer> {
    const { id: integrationId, tenant } = integration;
    const read = refusePush(integration) ?? (await turns.run(tenant, () => readBody(descriptorOf(integration), body)));
    if (isRefused(read)) return { ...NOTHING, result: present(read), error: read.code };
    const records = read.kind === 'single' ? [read.record] : read.records;
    const ends = await deps.settler.settle({ integrationId, tenant, requestId }, records);
    const results = ends.map(({ result }) => result);
    return { result: presentEnds(read.kind, ends), error: null, records: results, extraCostBytes: costOf(records) };
  }

  return async (request) => {
    const pushes = parseItems(request.pushes);
    const ids = pushes.map(({ integrationId }) =>
      isUuid(integrationId) ? integrationId.toLowerCase() : NO_INTEGRATION,
    );
    const integrations = await loadPushedIntegrations(database, [...new Set(ids)]);
    const results = await Promise.all(
      pushes.map((push, index) => receive(push, integrations.get(ids[index] ?? NO_INTEGRATION) ?? null)),
    );
    await failpoint('integration.push.before-answer');
    return { results };
  };
}

function createUnreadableLog({ clock, logger }: Pick<Deps, 'clock' | 'logger'>) {
  /** When the last line of an integration was written; entries end when the next one may be. */
  const loggedAt = new Map<string, number>();

  return (requestId: string, integrationId: string, error: DecryptionError) => {
    const now = clock().getTime();
    for (const [id, at] of loggedAt) if (now - at >= UNREADABLE_LOGGED_EVERY_MS) loggedAt.delete(id);
    if (loggedAt.has(integrationId)) return;
    loggedAt.set(integrationId, now);
    logger.error({ err: error, requestId, integrationId }, 'a push may be signed with a secret that does not open');
  };
}

/** Decrypts as much for a missing secret as for one that is there. `unreadable`: why one of them does not open; it is null in `secrets`. */
function createSecretReader(encryption: Encryption) {
  const sealed = encryption.encrypt('0'.repeat(64), secretOwner(NO_INTEGRATION));

  return (integration: PushedIntegration | null) => {
    const { id = NO_INTEGRATION, signingSecret = null, previousSigningSecret = null } = integration ?? {};
    let unreadable: DecryptionError | null = null;
    const open = (secret: Buffer | null) => {
      try {
        const text = encryption.decrypt(secret ?? sealed, secretOwner(secret === null ? NO_INTEGRATION : id));
        return secret === null ? null : text;
      } catch (error) {
        if (!(error instanceof DecryptionError)) throw error;
        unreadable = error;
        return null;
      }
    };
    const secrets = { current: open(signingSecret), previous: open(previousSigningSecret) };
    return { secrets, unreadable };
  };
}

/** A body that is one record is answered with its outcome, or with why there is none. */
function presentEnds(kind: 'single' | 'batch', ends: readonly RecordEnd[]): PushResult['result'] {
  const [end] = ends;
  if (kind === 'single' && end !== undefined) {
    const { code, message } = end.result;
    if (end.settled !== null) return { $case: 'settled', value: end.settled };
    if (code !== null) return present(refused(code, message ?? undefined));
  }
  return { $case: 'batch', value: { records: ends.map(({ result }) => presentRecord(result)) } };
}

function present({ code, message }: Refused): PushResult['result'] {
  return { $case: 'refused', value: { code, message } };
}

function presentFailure(error: unknown): PushResult['result'] {
  return { $case: 'failure', value: { message: String(error) } };
}
