import { type Refused, refused } from '@laurel/errors';
import { LostReplyError } from '@laurel/failpoint';
import { createLogger } from '@laurel/service';
import { describe, expect, it } from 'vitest';
import { answerItems } from './answer-items.ts';

type Answer = { readonly $case: 'attempt'; readonly value: number };

/** A call whose items are answered so, in turn. */
function call(...answers: (() => Promise<Answer | Refused>)[]) {
  const items = answers.map((answer, index) => ({ requestId: `request ${index}`, attemptId: 'attempt', answer }));
  const logger = createLogger({ service: 'test', level: 'silent' });
  return answerItems(items, ({ answer }) => answer(), { owner: 'challenge', logger, failure: 'an item failed' });
}

describe('the items of a call', () => {
  it('are answered, refused, or a fault, each by itself', async () => {
    const answer = { $case: 'attempt', value: 1 } as const;
    const answered = call(
      async () => answer,
      async () => refused('not_found', 'No such thing.'),
      () => Promise.reject(new Error('away')),
    );
    expect(await answered).toEqual({
      results: [
        { result: answer },
        { result: { $case: 'refused', value: { code: 'not_found', message: 'No such thing.' } } },
        { result: { $case: 'fault', value: { message: 'Error: away' } } },
      ],
    });
    expect(await call()).toEqual({ results: [] });
  });

  it('are all without an answer where a test loses the reply', async () => {
    const lost = call(() => Promise.reject(new LostReplyError('lost')));
    await expect(lost).rejects.toThrow(LostReplyError);
  });
});
