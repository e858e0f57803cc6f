/**
 * A file of the archive: JSON Lines compressed with zstd, one row per line, in key order. A file
 * has two digests: one of its bytes on the disk, and one of its lines. A run compares the digest of
 * the lines with a digest of the database's rows, so that it keeps neither in memory.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { StringDecoder } from 'node:string_decoder';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';

/** A row of an archive file. The file is sorted by `key`. */
export interface Line {
  readonly key: string;
  readonly json: string;
}

export interface WrittenFile {
  readonly rows: number;
  /** Null if the file has no rows. */
  readonly firstKey: string | null;
  readonly lastKey: string | null;
  readonly linesSha256: string;
  readonly bytes: number;
  readonly sha256: string;
}

export type CountedLines = Omit<WrittenFile, 'bytes' | 'sha256'>;

/** zstd has levels 1 to 22. */
const LEVEL = 9;

/** Writes a new file and waits until it is on the disk. Fails if the file exists. */
export async function writeLines(path: string, pages: AsyncIterable<readonly Line[]>): Promise<WrittenFile> {
  const digest = createHash('sha256');
  let bytes = 0;
  let counted: CountedLines | undefined;
  const file = await open(path, 'wx');
  try {
    await pipeline(
      async function* lines() {
        counted = yield* textOf(pages);
      },
      createZstdCompress({
        params: { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_checksumFlag]: 1 },
      }),
      async (compressed: AsyncIterable<Buffer>) => {
        for await (const chunk of compressed) {
          digest.update(chunk);
          bytes += chunk.length;
          await file.appendFile(chunk);
        }
      },
    );
    await file.sync();
  } finally {
    await file.close();
  }
  if (counted === undefined) throw new Error('a file of the archive ended before its rows');
  return { ...counted, bytes, sha256: digest.digest('hex') };
}

/** Returns the counts of `writeLines` for these rows, but writes no file. */
export async function countLines(pages: AsyncIterable<readonly Line[]>): Promise<CountedLines> {
  const lines = textOf(pages);
  for (;;) {
    const { done, value } = await lines.next();
    if (done) return value;
  }
}

async function* textOf(pages: AsyncIterable<readonly Line[]>): AsyncGenerator<string, CountedLines> {
  const digest = createHash('sha256');
  let rows = 0;
  let firstKey: string | null = null;
  let lastKey: string | null = null;
  for await (const page of pages) {
    if (page.length === 0) continue;
    const text = page.map((line) => `${line.json}\n`).join('');
    digest.update(text);
    rows += page.length;
    firstKey ??= page[0]?.key ?? null;
    lastKey = page.at(-1)?.key ?? lastKey;
    yield text;
  }
  return { rows, firstKey, lastKey, linesSha256: digest.digest('hex') };
}

/** Returns the digest and the number of the file's bytes on the disk. */
export async function digestFile(path: string): Promise<Pick<WrittenFile, 'bytes' | 'sha256'>> {
  const digest = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    digest.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: digest.digest('hex') };
}

/** Yields the lines of a file in their order. Throws if the file is truncated. */
export async function* readLines(path: string): AsyncGenerator<string> {
  const source = createReadStream(path);
  const plain = createZstdDecompress();
  const ended = pipeline(source, plain);
  // The loop below throws the same error; without this handler Node would report an unhandled
  // rejection.
  ended.catch(() => {});
  const decoder = new StringDecoder('utf8');
  let rest = '';
  try {
    for await (const chunk of plain as AsyncIterable<Buffer>) {
      // node:readline would also end a line at U+2028, which JSON may contain.
      const lines = (rest + decoder.write(chunk)).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    await ended;
  } finally {
    source.destroy();
  }
  if (rest + decoder.end() !== '') throw new Error(`${path} ends within a line`);
}
