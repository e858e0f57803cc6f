/**
 * The log of operators' actions (`GET /api/operator/actions`). An action is recorded before it has
 * any effect, and its result afterwards:
 *
 * 1. The actor, the action, its subject, the request, and the subject as operators see it are on
 *    disk before anything else happens. If they cannot be written, nothing is done.
 * 2. The effect takes place, in whichever service.
 * 3. The response's status is recorded, and the subject as operators see it afterwards. If these
 *    cannot be written, the caller gets the response nevertheless, and the process's log records
 *    the failure.
 *
 * A process that dies in between leaves an action without a result: the log shows its outcome as
 * unknown. Reads are not actions; a refused change is one. No secret is written. A subject is
 * recorded as a GET shows it. If a request contains a secret, only the members that its route names
 * are recorded.
 */

import { type OwningServices, serviceOf } from '@laurel/attempts/client';
import { HTTP_STATUS, isRefused, type Refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import type { Logger } from '@laurel/service';
import { isUuid, newId } from '@laurel/values/ids';
import type { Request, RequestHandler, Router } from 'express';
import type { WalletClient } from '../clients/wallet.ts';
import { recordedMembersOf, recordOf } from '../domain/action-record.ts';
import { type FailpointName, failpoint } from '../failpoints.ts';
import type { RequestContext } from '../http/context.ts';
import { parseJsonBody } from '../http/json-body.ts';
import type { Answer, ApiArea, Handle, Route } from '../http/route.ts';
import { validBodyOf } from '../http/validate.ts';
import { presentAccount } from '../presenters/account.ts';
import { presentAttempt } from '../presenters/attempt.ts';
import { presentOperatorChallenge } from '../presenters/challenge.ts';
import { presentPayout } from '../presenters/payout.ts';
import { presentOperatorProgram } from '../presenters/program.ts';
import { presentOperatorRound, presentOperatorTournament } from '../presenters/tournament.ts';
import { type ActionResult, insertAction, insertActionResult } from '../repository/operator-actions.ts';
import { findProgram } from '../repository/programs.ts';
import { isInPieces, runRoute, statusOf, textOf } from './run-route.ts';

/** The stores and services that record actions and read their subjects. */
export interface ActionLog extends OwningServices {
  readonly database: Database;
  readonly logger: Logger;
  readonly wallet: WalletClient;
}

interface Subject {
  readonly kind: string;
  readonly id: string;
}

type Read = (log: ActionLog, id: string, options: { requestId: string }) => Promise<object | Refused | undefined>;

/**
 * How operators see each kind of subject. For a kind that is not listed, the route's response is
 * recorded as the state afterwards.
 */
const SUBJECT_READS: Readonly<Record<string, Read>> = {
  program: async ({ database }, id) => {
    const program = await findProgram(database, id);
    return isRefused(program) ? program : presentOperatorProgram(program);
  },
  account: async ({ wallet }, accountId, options) => {
    const found = await wallet.getAccount({ accountId }, options);
    return isRefused(found) ? found : found.account && presentAccount(found.account);
  },
  challenge: async ({ challenge }, challengeId, options) => {
    const found = await challenge.getChallenge({ challengeId }, options);
    return isRefused(found) ? found : found.challenge && presentOperatorChallenge(found.challenge);
  },
  tournament: async ({ tournament }, tournamentId, options) => {
    const found = await tournament.getTournament({ tournamentId }, options);
    return isRefused(found) ? found : found.tournament && presentOperatorTournament(found.tournament);
  },
  round: async ({ tournament }, roundId, options) => {
    const found = await tournament.getRound({ roundId }, options);
    return isRefused(found) ? found : found.round && presentOperatorRound(found.round);
  },
  // `inspectAttempt` does not roll the attempt forward: the read before an action must not change
  // anything, not even what the action itself will change.
  attempt: async (services, attemptId, options) => {
    const found = await serviceOf(services, attemptId)?.inspectAttempt({ attemptId }, options);
    return found === undefined || isRefused(found) ? found : found.attempt && JSON.parse(presentAttempt(found.attempt));
  },
  award: async ({ wallet }, awardId, options) => {
    const found = await wallet.getPayout({ awardId }, options);
    return isRefused(found) ? found : found.payout && presentPayout(found.payout);
  },
};

/**
 * The handler of a route by which an operator changes something. It writes to the log of actions
 * and to the process's own log.
 */
export function recordedChange<Caller, Log extends ActionLog>(
  log: Log,
  { route, area, handle }: { readonly route: Route<Caller, Log>; readonly area: ApiArea; readonly handle: Handle },
): RequestHandler {
  const { action } = route;
  if (action === undefined) throw new Error(`${route.method} ${route.path} changes something and names no action`);
  const changes = { logger: log.logger, actor: 'operator' } as const;
  const handler = runRoute(route, recordAction(log, { ...route, action }, handle), { area, changes });
  recorded.add(handler);
  return handler;
}

function recordAction<Caller, Log extends ActionLog>(
  log: Log,
  route: Route<Caller, Log> & { readonly action: string },
  handle: Handle,
): Handle {
  const { action } = route;
  const { creates, records, reads } = route.recording ?? {};

  const read = async (request: Request, context: RequestContext, subject: Subject | null): Promise<object | null> => {
    const options = { requestId: context.requestId };
    if (reads !== undefined) {
      const subjectId = subjectOf(request)?.id ?? null;
      return reads({ subjectId, body: validBodyOf(route, request, context), options }, log);
    }
    const readSubject = subject === null ? undefined : SUBJECT_READS[subject.kind];
    if (subject === null || readSubject === undefined) return null;
    const found = await readSubject(log, subject.id, options);
    return found === undefined || isRefused(found) ? null : found;
  };

  return async (request, context) => {
    const { requestId, operator: actor } = context;
    if (actor === undefined) throw new Error('an action has no operator');
    const subject = subjectOf(request);
    const json = parseJsonBody(request, context);
    const before = creates === undefined ? await read(request, context, subject) : null;
    const id = newId();
    await passPoint('gateway.action.before-intent');
    await insertAction(log.database, {
      id,
      actor,
      action,
      subject: nameOf(subject),
      request: recordOf({
        path: request.params,
        body: json.kind === 'parsed' ? recordedMembersOf(json.value, records) : undefined,
      }),
      before: recordOf(before),
      requestId,
    });
    await passPoint('gateway.action.after-intent');

    const conclude = async (result: ActionResult): Promise<void> => {
      await passPoint('gateway.action.before-result');
      try {
        await insertActionResult(log.database, id, result);
      } catch (error) {
        log.logger.error({ err: error, actionId: id, requestId, ...result }, 'the result of an action was not written');
      }
      await passPoint('gateway.action.after-result');
    };

    let answer: Answer;
    try {
      answer = await handle(request, context);
    } catch (error) {
      // The change may have happened nevertheless.
      await conclude({ status: HTTP_STATUS.internal_error, created: null, after: null });
      throw error;
    }
    if (isRefused(answer)) {
      await conclude({ status: HTTP_STATUS[answer.code], created: null, after: null });
      return answer;
    }
    const shown = shownBy(answer);
    const created = creates === undefined ? null : createdOf(creates, shown);
    const after = await readAfter(shown, created ?? subject, () => read(request, context, created ?? subject));
    await conclude({ status: statusOf(route, answer), created: nameOf(created), after: recordOf(after) });
    return answer;
  };

  /**
   * Reads the subject after the action. Returns the body of the response instead if there is no way
   * to read the subject, or if the read fails.
   */
  async function readAfter(
    shown: object | undefined,
    subject: Subject | null,
    readNow: () => Promise<object | null>,
  ): Promise<unknown> {
    if (reads === undefined && (subject === null || SUBJECT_READS[subject.kind] === undefined)) return shown;
    try {
      return await readNow();
    } catch (error) {
      log.logger.warn({ err: error, action }, 'what an action changed could not be read again');
      return shown;
    }
  }
}

/** A failpoint costs nothing to await. */
async function passPoint(name: FailpointName): Promise<void> {
  await failpoint(name);
}

/**
 * The subject of a request: the first resource that its path names. `/accounts/{accountId}/...` is
 * about an account. Null if the text in the path cannot be an id.
 */
function subjectOf(request: Request): Subject | null {
  const [name, id] = Object.entries(request.params)[0] ?? [];
  if (name === undefined || typeof id !== 'string' || !isUuid(id)) return null;
  return { kind: name.replace(/Id$/, ''), id: id.toLowerCase() };
}

function createdOf(kind: string, shown: object | undefined): Subject | null {
  return shown !== undefined && 'id' in shown && typeof shown.id === 'string' ? { kind, id: shown.id } : null;
}

/** The body of a response, as the caller reads it. */
function shownBy(answer: Exclude<Answer, Refused>): object | undefined {
  if (isInPieces(answer)) throw new Error('the answer to an action must be one text, because it is recorded');
  if (typeof answer === 'object' && answer.body !== undefined) return answer.body;
  const text = textOf(answer);
  return text === undefined ? undefined : JSON.parse(text);
}

function nameOf(subject: Subject | null): string | null {
  return subject === null ? null : `${subject.kind}:${subject.id}`;
}

const recorded = new WeakSet<RequestHandler>();

/**
 * Throws if a route that changes something is not recorded. So the gateway does not start with a
 * route that bypasses the log.
 */
export function assertChangesAreRecorded(router: Router): void {
  for (const { route, handle: middleware } of router.stack) {
    if (route === undefined) {
      if ('stack' in middleware) throw new Error('a router inside this one may have changes that are not recorded');
      continue;
    }
    for (const { method, handle } of route.stack) {
      if (method !== 'get' && !recorded.has(handle)) {
        throw new Error(`${method} ${route.path} changes something without being recorded`);
      }
    }
  }
}
