import { randomInt } from 'node:crypto';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What an armed failpoint does to the one process that hits it, once. */
export type FailpointAction = 'kill' | 'throw' | 'lose-reply' | `delay:${number}`;

export interface Failpoints {
  /** Plants a failpoint: the next process that hits it acts. */
  arm(failpoint: string, action: FailpointAction): void;
  /** Removes an armed failpoint unless it was hit; returns whether it was. */
  disarm(failpoint: string): boolean;
  isFired(failpoint: string): boolean;
}

/**
 * Arms failpoints by files in the folder that the services read. If it is undefined, because the
 * stack has no failpoints, each call throws.
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

/** Renames the new content into place, so that no process can read half of it. */
export function replaceFile(file: string, content: string): void {
  const draft = `${file}.draft-${randomInt(1e12)}`;
  writeFileSync(draft, content);
  renameSync(draft, file);
}
