/**
 * One item of a call that carries many: it is answered, refused, or a fault by itself. A fault says nothing to the partner but that the
 * outcome is unknown; the same item sent again goes on from where it was.
 */
import { isRefused, type Refused } from '@laurel/errors';
import { LostReplyError } from '@laurel/failpoint';
import type { Logger } from '@laurel/service';

type Unanswered =
  | { readonly $case: 'refused'; readonly value: { readonly code: string; readonly message: string } }
  | { readonly $case: 'fault'; readonly value: { readonly message: string } };

export async function answerItem<Answer extends { readonly $case: string }>(
  item: { readonly requestId: string; readonly attemptId: string },
  answer: () => Promise<Answer | Refused>,
  { logger, failure }: { readonly logger: Logger; readonly failure: string },
): Promise<{ result: Answer | Unanswered }> {
  try {
    const result = await answer();
    if (!isRefused(result)) return { result };
    return { result: { $case: 'refused', value: { code: result.code, message: result.message } } };
  } catch (error) {
    if (error instanceof LostReplyError) throw error;
    logger.error({ err: error, requestId: item.requestId, attemptId: item.attemptId }, failure);
    return { result: { $case: 'fault', value: { message: String(error) } } };
  }
}
