/**
 * `POST /webhooks/integrations/{id}/outcome`: where partners push outcomes
 * (docs/contract/partner-api.md, "Pushed outcomes"). It takes no API key. The signature over the
 * raw body authenticates the caller, and only the integration service holds the secrets. So its
 * limits are checked first (`admission/push-limits.ts`). Then the bytes are passed on unchanged,
 * whatever their content type.
 */
import { isRefused } from '@laurel/errors';
import { isUuid } from '@laurel/values/ids';
import { MAX_BODY_BYTES } from '@laurel/values/limits';
import type { Request, RequestHandler, Response } from 'express';
import { type BudgetHolder, SHARE_OF_ONE_HOLDER } from '../admission/body-budget.ts';
import type { AdmittedPush, PushLimits } from '../admission/push-limits.ts';
import { sendTooMany } from '../admission/rate-limit.ts';
import type { PushClient } from '../clients/pushes.ts';
import { networkOf } from '../domain/client-network.ts';
import { failpoint } from '../failpoints.ts';
import { sendError, sendJson, sendRefusal } from '../http/answer.ts';
import { isSentUnencoded } from '../http/content-encoding.ts';
import { contextOf } from '../http/context.ts';
import { announcedBytes, type BodyReader, leaveUnread } from '../http/raw-body.ts';
import { presentBatch, presentSettledRecord } from '../presenters/integration.ts';

export interface PushDependencies {
  readonly pushLimits: PushLimits;
  readonly pushBodies: BodyReader;
  readonly pushes: PushClient;
  /** The client's address, also behind proxies. */
  readonly addressOf: (request: Request) => string;
}

export const PUSH_PATH = '/webhooks/integrations/{id}/outcome';

/**
 * Below `/webhooks`. The id is not decoded: any text here that is not a uuid is an unknown
 * integration.
 */
const PATH = /^\/integrations\/([^/]+)\/outcome$/;
const SIGNATURE_HEADER = 'x-service-signature';
const NO_BYTES = Buffer.alloc(0);
/**
 * The shares of the body budget for networks that are unknown to their integration: one share for
 * all such networks of one integration, and one for those of all integrations.
 */
const SHARE_OF_OTHERS_AT_ONE = 1 / 2;
const SHARE_OF_OTHERS = 3 / 4;
const KNOWN = 'known';
const OTHER = 'other';
/** One text for every failure, so that none shows which integrations exist. */
export const NOT_SIGNED_MESSAGE = 'The signature is missing or not valid.';

export function pushOutcome({ pushLimits, pushBodies, pushes, addressOf }: PushDependencies): RequestHandler {
  return (request, response, next) => {
    const [, segment] = PATH.exec(request.path) ?? [];
    if (segment === undefined || request.method !== 'POST') return next();
    const context = contextOf(response);
    context.routeTemplate = PUSH_PATH;

    const integrationId = isUuid(segment) ? segment.toLowerCase() : '';
    const network = networkOf(addressOf(request));
    const admission = pushLimits.admit(integrationId, network, Math.min(announcedBytes(request), MAX_BODY_BYTES));
    if (admission.kind === 'limited') {
      leaveUnread(request, response);
      return sendTooMany(response, admission);
    }
    context.pushEnvironment = admission.environment ?? undefined;
    let isReceiving = false;
    // A push whose caller disconnects still counts as under way until the service has processed it.
    response.on('close', () => {
      if (!isReceiving) admission.release();
    });

    if (!isSentUnencoded(request.headers['content-encoding'])) {
      leaveUnread(request, response);
      return sendError(response, 'invalid_request', 'The body must not be compressed.');
    }
    pushBodies.read(request, response, holderOf(integrationId, network, admission.isKnown), (error) => {
      if (error !== undefined || context.isBodyTooLarge) leaveUnread(request, response);
      if (error !== undefined) return next(error);
      if (context.isBodyTooLarge) {
        return sendError(response, 'invalid_request', `The body is larger than ${context.maxBodyBytes / 1024} KiB.`);
      }
      isReceiving = true;
      receive(request, response, { integrationId, admission, pushes }).catch(next).finally(admission.release);
    });
  };
}

function holderOf(integrationId: string, network: string, isKnown: boolean): string {
  return `${integrationId} ${network} ${isKnown ? KNOWN : OTHER}`;
}

/**
 * A pushed body counts for its integration and for its client: neither a flood at one integration
 * nor a flood by one client uses up the budget of the others. Networks that are unknown to an
 * integration are counted apart from known ones. All unknown networks together leave a quarter of
 * the budget to the known ones.
 */
export function holdersOfPushedBody(holder: string): readonly BudgetHolder[] {
  const [integrationId, network = '', standing] = holder.split(' ');
  const ofNetwork = { name: network, share: SHARE_OF_ONE_HOLDER };
  if (standing === KNOWN) return [ofNetwork, { name: `${KNOWN} ${integrationId}`, share: SHARE_OF_ONE_HOLDER }];
  return [
    ofNetwork,
    { name: `${OTHER} ${integrationId}`, share: SHARE_OF_OTHERS_AT_ONE },
    { name: OTHER, share: SHARE_OF_OTHERS },
  ];
}

async function receive(
  request: Request,
  response: Response,
  push: {
    readonly integrationId: string;
    readonly admission: AdmittedPush;
    readonly pushes: PushClient;
  },
): Promise<void> {
  const { integrationId, admission, pushes } = push;
  const context = contextOf(response);
  await failpoint('gateway.push.before-call');
  const { answer: received, cost } = await pushes.receive(
    {
      integrationId,
      signature: signatureOf(request),
      body: context.rawBody ?? NO_BYTES,
      requestId: context.requestId,
    },
    admission.environment ?? 'unknown',
  );
  await failpoint('gateway.push.after-call');
  if (isRefused(received) && received.code === 'unauthorized') {
    return sendError(response, 'unauthorized', NOT_SIGNED_MESSAGE);
  }
  context.isSignatureValid = true;
  context.pushEnvironment = cost?.tenant.environment ?? context.pushEnvironment;
  admission.makeKnown(cost);
  if (isRefused(received)) return sendRefusal(response, received);
  const body = received.kind === 'settled' ? presentSettledRecord(received.record) : presentBatch(received.batch);
  sendJson(response, 200, body);
}

/** Empty if the header is missing or was sent twice: Node would join the two. */
function signatureOf(request: Request): string {
  const [signature = '', ...others] = request.headersDistinct[SIGNATURE_HEADER] ?? [];
  return others.length === 0 ? signature : '';
}
