/** The release that this process was built from. All packages of the repository have one version: the root's (`versions.test.ts`). */
import { readFileSync } from 'node:fs';
import { gauge } from '@laurel/telemetry';

const { version }: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

export const VERSION = version;

/** Always 1; its labels name the release, so that a query can join them to any other metric of the process. */
export function publishVersion(): void {
  gauge('laurel_build_info', 'Always 1: the release that runs, and the Node that runs it.', ['version', 'node']).set(
    { version: VERSION, node: process.versions.node },
    1,
  );
}
