import { randomInt } from 'node:crypto';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What an armed failpoint does. It acts once, on the first process that hits it. */
export type FailpointAction = 'kill' | 'throw' | 'lose-reply' | `delay:${number}`;

export interface Failpoints {
  /** Arms a failpoint: it acts on the next process that hits it. */
  arm(failpoint: string, action: FailpointAction): void;
  /** Disarms a failpoint. Returns true if a process had hit it before. */
  disarm(failpoint: string): boolean;
  isFired(failpoint: string): boolean;
}

/**
 * Arms failpoints by files in the folder that the services read. If `directory` is undefined,
 * because the stack has no failpoints, each call throws.
 */
export function failpointsIn(directory: string | undefined): Failpoints {
  const fileOf = (failpoint: string): string => {
    if (directory === undefined) throw new Error('this stack was started without failpoints');
    return join(directory, failpoint);
  };
  return {
    arm: (failpoint, action) => replaceFile(fileOf(failpoint), action),
    disarm: (failpoint) => {
      const file = fileOf(failpoint);
      const fired = !existsSync(file);
      rmSync(file, { force: true });
      return fired;
    },
    isFired: (failpoint) => !existsSync(fileOf(failpoint)),
  };
}

/** Writes a draft file and renames it, so that no process can read a half-written file. */
export function replaceFile(file: string, content: string): void {
  const draft = `${file}.draft-${randomInt(1e12)}`;
  writeFileSync(draft, content);
  renameSync(draft, file);
}
