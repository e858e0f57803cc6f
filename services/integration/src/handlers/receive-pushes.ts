/**
 * ReceivePushes: verifies, reads and settles the bodies that partners' servers posted. One read
 * loads the integrations of a batch of pushes. commits/settle-records.ts coalesces the rest record
 * by record, and the log is written after the response.
 *
 * A caller that cannot sign learns nothing. An id without an integration, a missing or malformed
 * header and a wrong signature get the same refusal, after the same work. While a secret cannot be
 * decrypted, a push that may be signed with it fails, so that its partner sends it again.
 */
import { DecryptionError, type Encryption } from '@laurel/encryption';
import { isRefused, type Refused, refused } from '@laurel/errors';
import { type Handlers, parseItems, presentTenant } from '@laurel/grpc';
import { excerptOf } from '@laurel/json';
import type { Database } from '@laurel/postgres';
import type { IntegrationServiceService, Push, PushResult } from '@laurel/proto/integration';
import type { Clock, Logger } from '@laurel/service';
import { isUuid, newId } from '@laurel/values/ids';
import type { RecordEnd, RecordSettler } from '../commits/settle-records.ts';
import type { BodyScheduler } from '../domain/body-scheduler.ts';
import { refusePush } from '../domain/push-admission.ts';
import { isSigned, isWellFormedSignature } from '../domain/push-signature.ts';
import { readBody, recordsCostOf } from '../domain/read-body.ts';
import type { RecordResult } from '../domain/record-result.ts';
import { secretOwner } from '../domain/signing-secret.ts';
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
  readonly bodyScheduler: BodyScheduler;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** The response to a push, and what the log records of it. */
type Answer = {
  readonly result: PushResult['result'];
  readonly error: string | null;
  readonly records: RecordResult[];
  /** The cost beyond the bytes of the body. */
  readonly extraCostBytes: number;
};

/** No tenant: only a valid signature may reveal whose integration it is. */
const UNPROVED = { tenant: undefined, extraCostBytes: 0n };
const NOTHING = { records: [], extraCostBytes: 0 };

const UNAUTHORIZED = refused('unauthorized', 'The signature is missing or not valid.');

/**
 * The shortest time between two log lines about an integration's unreadable secret: any caller can
 * push to it and so cause the line.
 */
const UNREADABLE_LOGGED_EVERY_MS = 60_000;

/** No integration has this id. It is looked up in place of an id that is not a uuid. */
const NO_INTEGRATION = '00000000-0000-0000-0000-000000000000';

export function receivePushes(deps: Deps): Handlers<IntegrationServiceService>['receivePushes'] {
  const { database, log, bodyScheduler, clock, logger } = deps;
  const secretsOf = createSecretReader(deps.encryption);
  const logUnreadable = createUnreadableLog(deps);
  const descriptorOf = createDescriptorCache();

  async function receive(push: Push, integration: PushedIntegration | null): Promise<PushResult> {
    // For a malformed signature no secret is decrypted, so an unreadable one makes no difference.
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
    const read =
      refusePush(integration) ?? (await bodyScheduler.run(tenant, () => readBody(descriptorOf(integration), body)));
    if (isRefused(read)) return { ...NOTHING, result: present(read), error: read.code };
    const records = read.kind === 'single' ? [read.record] : read.records;
    const ends = await deps.settler.settle({ integrationId, tenant, requestId }, records);
    const results = ends.map(({ result }) => result);
    return {
      result: presentEnds(read.kind, ends),
      error: null,
      records: results,
      extraCostBytes: recordsCostOf(records),
    };
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
  /**
   * When the last line about an integration was written. An entry is removed once the next line may
   * follow.
   */
  const loggedAt = new Map<string, number>();

  return (requestId: string, integrationId: string, error: DecryptionError) => {
    const now = clock().getTime();
    for (const [id, at] of loggedAt) if (now - at >= UNREADABLE_LOGGED_EVERY_MS) loggedAt.delete(id);
    if (loggedAt.has(integrationId)) return;
    loggedAt.set(integrationId, now);
    logger.error({ err: error, requestId, integrationId }, 'a push may be signed with a secret that does not open');
  };
}

/**
 * Decrypts a dummy for a missing secret, so that it takes as long as a present one. `unreadable`
 * says why one of the secrets cannot be decrypted; `secrets` has null in its place.
 */
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

/** For a body that is one record, the response is the record's outcome, or why there is none. */
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
