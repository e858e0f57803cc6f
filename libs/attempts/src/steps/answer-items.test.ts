import { type Refused, refused } from '@laurel/errors';
import { LostReplyError } from '@laurel/failpoint';
import { createLogger } from '@laurel/service';
import { describe, expect, it } from 'vitest';
import { answerItems, answerReports } from './answer-items.ts';

type Answer = { readonly $case: 'attempt'; readonly value: number };

/** A call whose items have these results, in order. */
function call(...answers: (() => Promise<Answer | Refused>)[]) {
  const items = answers.map((answer, index) => ({ requestId: `request ${index}`, attemptId: 'attempt', answer }));
  const logger = createLogger({ service: 'test', level: 'silent' });
  return answerItems(items, ({ answer }) => answer(), {
    contestService: 'challenge',
    logger,
    failure: 'an item failed',
  });
}

describe('the items of a call', () => {
  it('an item of a call succeeds, is refused or fails independently of the other items', async () => {
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
        { result: { $case: 'failure', value: { message: 'Error: away' } } },
      ],
    });
    expect(await call()).toEqual({ results: [] });
  });

  it('only a successful result of a report can state that it repeats an earlier report', async () => {
    const logger = createLogger({ service: 'test', level: 'silent' });
    const answers: (() => Promise<{ $case: 'outcome'; value: number; repeated: boolean } | Refused>)[] = [
      async () => ({ $case: 'outcome', value: 1, repeated: false }),
      async () => ({ $case: 'outcome', value: 2, repeated: true }),
      async () => refused('not_found'),
      () => Promise.reject(new Error('away')),
    ];
    const reports = answers.map((answer) => ({ requestId: '', attemptId: 'attempt', answer }));
    const options = { contestService: 'challenge', logger, failure: 'a report failed' } as const;
    const { results } = await answerReports(reports, ({ answer }) => answer(), options);
    expect(results.map(({ result, repeated }) => [result.$case, repeated])).toEqual([
      ['outcome', false],
      ['outcome', true],
      ['refused', false],
      ['failure', false],
    ]);
  });

  it('no item of a call gets a result if a failpoint drops the reply', async () => {
    const lost = call(() => Promise.reject(new LostReplyError('lost')));
    await expect(lost).rejects.toThrow(LostReplyError);
  });
});
