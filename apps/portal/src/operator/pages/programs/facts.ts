import type { Environment, OperatorProgram } from '../../../api/api-types.ts';
import type { Fact } from '../../layout/changes-since.ts';

/** The facts on which an action on a program depends. */
export const PROGRAM_FACTS: readonly Fact<OperatorProgram>[] = [
  { label: 'Status', of: ({ status }) => status },
  { label: 'Developer', of: ({ developer_id: developerId }) => developerId ?? 'none' },
  { label: 'Deletion', of: ({ deletion_scheduled: isScheduled }) => (isScheduled ? 'scheduled' : 'not scheduled') },
  { label: 'Test key', of: (program) => keyOf(program, 'test') },
  { label: 'Live key', of: (program) => keyOf(program, 'live') },
];

function keyOf({ keys }: OperatorProgram, environment: Environment): string {
  const key = keys.find((one) => one.environment === environment);
  return key === undefined ? 'none' : `${key.prefix}…${key.last4}`;
}
