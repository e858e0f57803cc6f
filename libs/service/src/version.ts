/**
 * The release that this process was built from: the version that all packages share with the root
 * (`versions.test.ts`).
 */
import { readFileSync } from 'node:fs';
import { gauge } from '@laurel/telemetry';

const { version }: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

export const VERSION = version;

/**
 * A metric that is always 1. Its labels name the release, for a query to join to other metrics of
 * the process.
 */
export function publishVersion(): void {
  gauge('laurel_build_info', 'Always 1: the release that runs, and the Node that runs it.', ['version', 'node']).set(
    { version: VERSION, node: process.versions.node },
    1,
  );
}
