/** Maps the result of a record to its message. */
import { RECORD_STATUSES } from '@laurel/proto/enum-names';
import type { RecordResult as RecordResultMessage } from '@laurel/proto/integration';
import type { RecordResult } from '../domain/record-result.ts';

export function presentRecord({ index, attemptId, status, code, message }: RecordResult): RecordResultMessage {
  return {
    index,
    attemptId: attemptId ?? '',
    status: RECORD_STATUSES[status],
    code: code ?? '',
    message: message ?? '',
  };
}
