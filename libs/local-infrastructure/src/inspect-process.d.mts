/**
 * The parent and the command line of a process; null when the process has exited, or is a zombie.
 * The command line of a process that is exiting is empty: the kernel releases its memory first, and
 * its ports and files after that. `started` distinguishes the process from a later one with the
 * same id.
 */
export function inspectProcess(pid: number): InspectedProcess | null;

/** A process as one line of text, by which `findIdentified` finds it and no later one of its id. */
export function identifyProcess(pid: number): string;

/**
 * The process that the line identifies; null if the process has exited or the line identifies none.
 * A line of the previous release is only the id.
 */
export function findIdentified(text: string): (InspectedProcess & { readonly pid: number }) | null;

interface InspectedProcess {
  readonly parent: number;
  readonly command: string;
  readonly started: string;
}
