/** The inputs of the built site. The build is up to date while its fingerprint is theirs. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DOCS = fileURLToPath(new URL('../', import.meta.url));

/** The folder of the built site. */
export const DIST = fileURLToPath(new URL('./dist', import.meta.url));
/** The file in that folder with the fingerprint of its inputs. */
export const STAMP = '.built-from';

const INPUTS = [
  'contract/{partner-api,integrations,quick-start}.md',
  'openapi/partner-v1.yaml',
  'samples/{README.md,*/*.{py,go,cs,java,php,rb,mjs}}',
  'site/{*.ts,package.json}',
  'site/{reference,theme}/*.{ts,css}',
];

export function inputsFingerprint(): string {
  const hash = createHash('sha256');
  for (const file of globSync(INPUTS, { cwd: DOCS }).toSorted()) {
    if (file.endsWith('.test.ts')) continue;
    const bytes = readFileSync(join(DOCS, file));
    hash.update(`${file} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest('hex');
}

/** Whether docs/site/dist was built from the present checkout. */
export function isBuilt(): boolean {
  try {
    return readFileSync(join(DIST, STAMP), 'utf8') === inputsFingerprint();
  } catch {
    return false;
  }
}
