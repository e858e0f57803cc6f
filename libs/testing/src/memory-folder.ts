import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** The folder of Linux's file system in memory. */
const MEMORY = '/dev/shm';
/** The number by which the kernel names the file system (statfs(2), TMPFS_MAGIC). */
const TMPFS = 0x01021994;
/**
 * Twice the most that a run of all tests writes: ten million samples with their indexes and log.
 */
const NEEDED_BYTES = 12 * 2 ** 30;

/**
 * Returns the folder for the data of a test run's servers: in memory if there is room, else on
 * disk. A run makes and drops hundreds of databases of some thousand files, and ext4 takes ever
 * longer to find inodes that were not just deleted. Measured on two cores: in six seconds of
 * several test runs, PostgreSQL spent 24 % of all CPU in the kernel, mostly in that search. Making
 * and dropping a database took 93 to 142 ms on disk, 37 to 75 ms in memory.
 */
export function memoryFolder(): string {
  try {
    const { type, bavail, bsize } = statfsSync(MEMORY);
    return type === TMPFS && bavail * bsize >= NEEDED_BYTES ? MEMORY : tmpdir();
  } catch {
    // This machine does not run Linux, or is a container without the folder.
    return tmpdir();
  }
}
