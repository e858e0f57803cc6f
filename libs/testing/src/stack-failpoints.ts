import { randomInt } from 'node:crypto';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What an armed failpoint does when it is hit; it is hit once, by one process. */
export type FailpointAction = 'kill' | 'throw' | 'lose-reply' | `delay:${number}`;

export interface Failpoints {
  /** Plants a failpoint: the next process that hits it acts. */
  arm(failpoint: string, action: FailpointAction): void;
  /** Removes an armed failpoint if it was not hit; returns whether it was hit. */
  disarm(failpoint: string): boolean;
  isFired(failpoint: string): boolean;
}

/** Failpoints as files of the folder that the services read; undefined where a stack was started without them, and each call throws. */
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
