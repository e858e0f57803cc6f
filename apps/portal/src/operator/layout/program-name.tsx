/** `<ProgramName programId={id} />`: the name, once it is read. */
import type { ReactNode } from 'react';
import type { OperatorProgram } from '../../api/api-types.ts';
import { useRead } from '../../api/use-read.ts';

export function ProgramName({ programId }: { readonly programId: string }): ReactNode {
  const reading = useRead<OperatorProgram>(`/programs/${programId}`);
  return reading.state === 'loaded' ? reading.data.name : '…';
}
