/**
 * The parent and the command line of a process, or null when it has exited (a zombie included). The command line of one
 * that is exiting is empty: the kernel releases its memory first, and its ports and files after that. `started` tells it
 * from a later process with the same id.
 */
export function inspectProcess(pid: number): InspectedProcess | null;

/** A process as one line of text, by which `findIdentified` tells it from a later one with the same id. */
export function identifyProcess(pid: number): string;

/**
 * The process that the line identifies; null where it has exited, or the line identifies none. A line
 * of the release before is the id alone.
 */
export function findIdentified(text: string): (InspectedProcess & { readonly pid: number }) | null;

interface InspectedProcess {
  readonly parent: number;
  readonly command: string;
  readonly started: string;
}
