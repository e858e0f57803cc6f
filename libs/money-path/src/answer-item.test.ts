import { refused } from '@laurel/errors';
import { LostReplyError } from '@laurel/failpoint';
import { createLogger } from '@laurel/service';
import { describe, expect, it } from 'vitest';
import { answerItem } from './answer-item.ts';

const item = { requestId: 'request', attemptId: 'attempt' };
const how = { logger: createLogger({ service: 'test', level: 'silent' }), failure: 'an item failed' };

describe('one item of a call', () => {
  it('is answered, refused, or a fault by itself', async () => {
    const answer = { $case: 'attempt', value: 1 } as const;
    expect(await answerItem(item, async () => answer, how)).toEqual({ result: answer });
    expect(await answerItem(item, async () => refused('not_found', 'No such thing.'), how)).toEqual({
      result: { $case: 'refused', value: { code: 'not_found', message: 'No such thing.' } },
    });
    expect(await answerItem(item, () => Promise.reject(new Error('away')), how)).toEqual({
      result: { $case: 'fault', value: { message: 'Error: away' } },
    });
  });

  it('takes the whole call with it where a test loses the reply', async () => {
    const lost = answerItem(item, () => Promise.reject(new LostReplyError('lost')), how);
    await expect(lost).rejects.toThrow(LostReplyError);
  });
});
