import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** Linux's file system in memory. */
const MEMORY = '/dev/shm';
/** As its kernel names it (statfs(2), TMPFS_MAGIC). */
const TMPFS = 0x01021994;
/** Twice what a run of all tests writes at most: ten million samples with their indexes and their log. */
const NEEDED_BYTES = 12 * 2 ** 30;

/**
 * The folder below which the servers of a test run keep their data: in memory where there is room, else on the disk.
 * A database is some thousand files, a run makes and drops hundreds of databases, and ext4 searches ever longer for inodes
 * that were not deleted a moment ago. Measured on two cores: of six seconds of several test runs, PostgreSQL spent 24 % of all
 * CPU in the kernel, most of it in that search; to make and drop a database took 93 to 142 ms there, 37 to 75 ms in memory.
 */
export function memoryFolder(): string {
  try {
    const { type, bavail, bsize } = statfsSync(MEMORY);
    return type === TMPFS && bavail * bsize >= NEEDED_BYTES ? MEMORY : tmpdir();
  } catch {
    // No Linux, or a container without it.
    return tmpdir();
  }
}
