/** The program and the environment of the address, for every page below it. */
import { createContext, type ReactNode, useContext } from 'react';
import type { Environment, Program } from '../api/api-types.ts';

export interface CurrentProgram {
  readonly program: Program;
  readonly programId: string;
  readonly environment: Environment;
  /** `/programs/{programId}` and what follows: the path for `useRead` and the other hooks. */
  readonly pathOf: (rest: string) => string;
}

const Context = createContext<CurrentProgram | undefined>(undefined);

interface ProgramProviderProps {
  readonly program: Program;
  readonly environment: Environment;
  readonly children: ReactNode;
}

export function ProgramProvider({ program, environment, children }: ProgramProviderProps): ReactNode {
  const pathOf = (rest: string) => `/programs/${program.id}${rest}`;
  return <Context value={{ program, programId: program.id, environment, pathOf }}>{children}</Context>;
}

/** `const { programId, environment, pathOf } = useProgram();` */
export function useProgram(): CurrentProgram {
  const current = useContext(Context);
  if (current === undefined) throw new Error('Only a page below /p/$programId/$environment has a program.');
  return current;
}
