import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useProgram } from '../../layout/program.tsx';
import type { SandboxCall } from './calls.ts';
import { takeStep } from './visit.ts';

export interface Sandbox {
  /** The kind of the call that is under way. */
  readonly running: SandboxCall['kind'] | undefined;
  /** Runs one call at a time. */
  readonly run: (call: SandboxCall) => void;
}

/** Makes the calls of the console. What the program's pages have read is then read again. */
export function useSandbox(): Sandbox {
  const { programId, pathOf } = useProgram();
  const client = useQueryClient();
  const [running, setRunning] = useState<SandboxCall['kind']>();
  const run = async (call: SandboxCall) => {
    if (running !== undefined) return;
    setRunning(call.kind);
    await takeStep(programId, call);
    setRunning(undefined);
    const below = `${pathOf('')}/`;
    void client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith(below) });
  };
  return { running, run: (call) => void run(call) };
}
