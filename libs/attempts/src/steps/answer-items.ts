/**
 * The response to a call with many items. Each item gets a value, a refusal or a failure,
 * independently of the others. After a failure the caller does not know the result; if it sends the
 * item again, the item continues from its last commit.
 */
import { isRefused, type Refused } from '@laurel/errors';
import { LostReplyError } from '@laurel/failpoint';
import { parseItems } from '@laurel/grpc';
import type { Logger } from '@laurel/service';
import type { ContestServiceName } from '@laurel/values/ids';
import { failpoint } from '../failpoints.ts';

type Item = { readonly requestId: string; readonly attemptId?: string };

type Unanswered =
  | { readonly $case: 'refused'; readonly value: { readonly code: string; readonly message: string } }
  | { readonly $case: 'failure'; readonly value: { readonly message: string } };

type Result<Answer> = { result: Answer | Unanswered };

/** `failure` is the log message of an item that failed. */
type AnswerOptions = { readonly contestService: ContestServiceName; readonly logger: Logger; readonly failure: string };

export async function answerItems<Asked extends Item, Answer extends { readonly $case: string }>(
  items: readonly Asked[],
  answer: (item: Asked) => Promise<Answer | Refused>,
  options: AnswerOptions,
): Promise<{ results: Result<Answer>[] }> {
  const results = await Promise.all(parseItems(items).map((item) => answerItem(item, answer, options)));
  await failpoint(`${options.contestService}.reply.before-send`);
  return { results };
}

type ReportAnswer<Outcome> = { readonly $case: 'outcome'; readonly value: Outcome; readonly repeated: boolean };

/**
 * Does what `answerItems` does, for reports of scores. A result also states whether an earlier
 * report of the same operation recorded the outcome.
 */
export async function answerReports<Asked extends Item, Outcome>(
  reports: readonly Asked[],
  answer: (report: Asked) => Promise<ReportAnswer<Outcome> | Refused>,
  options: AnswerOptions,
): Promise<{ results: (Result<ReportAnswer<Outcome>> & { repeated: boolean })[] }> {
  const { results } = await answerItems(reports, answer, options);
  return {
    results: results.map(({ result }) => ({ result, repeated: result.$case === 'outcome' && result.repeated })),
  };
}

async function answerItem<Asked extends Item, Answer extends { readonly $case: string }>(
  item: Asked,
  answer: (item: Asked) => Promise<Answer | Refused>,
  { logger, failure }: AnswerOptions,
): Promise<Result<Answer>> {
  try {
    const result = await answer(item);
    if (!isRefused(result)) return { result };
    return { result: { $case: 'refused', value: { code: result.code, message: result.message } } };
  } catch (error) {
    if (error instanceof LostReplyError) throw error;
    logger.error({ err: error, requestId: item.requestId, attemptId: item.attemptId }, failure);
    return { result: { $case: 'failure', value: { message: String(error) } } };
  }
}
