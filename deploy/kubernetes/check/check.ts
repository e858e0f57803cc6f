// `npm run check:kubernetes` renders every kustomization below deploy: each service's, each
// overlay's and that of the alerts.
// It checks every object against the types of the API (api-types.ts) and every pod against this
// repository's rules (pod-rules.ts). It exits with 1 if there are issues.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  KustomizeUnavailableError,
  obtainRenderCommand,
  type RenderCommand,
  renderKustomization,
} from '@laurel/local-infrastructure/kustomize';
import { parse } from 'yaml';
import { issuesOfTypes } from './api-types.ts';
import { type Manifest, parseManifests } from './manifest.ts';
import { issuesOfPods } from './pod-rules.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const MANIFESTS = join(ROOT, 'deploy');
/** The folder that keeps a fetched kustomize. */
const KEPT_BELOW = join(ROOT, 'node_modules', '.cache', 'laurel');

let command: RenderCommand;
try {
  command = await obtainRenderCommand(KEPT_BELOW, (line) => console.log(line));
} catch (error) {
  if (!(error instanceof KustomizeUnavailableError)) throw error;
  if (process.env.CI) {
    console.error(error.message);
    process.exit(1);
  }
  console.log(`SKIPPED, the manifests of Kubernetes were not checked. ${error.message}`);
  process.exit(0);
}

// A Component is rendered as part of the kustomizations that include it.
const folders = globSync('**/kustomization.yaml', { cwd: MANIFESTS, exclude: ['**/node_modules'] })
  .filter((file) => parse(readFileSync(join(MANIFESTS, file), 'utf8')).kind === 'Kustomization')
  .map(dirname)
  .sort();

/** Keyed by text: an overlay renders most objects as the services do, and each is checked once. */
const objects = new Map<string, { readonly folder: string; readonly manifest: Manifest }>();
const issues: string[] = [];
for (const folder of folders) {
  try {
    for (const manifest of parseManifests(await renderKustomization(command, join(MANIFESTS, folder)))) {
      const text = JSON.stringify(manifest);
      if (!objects.has(text)) objects.set(text, { folder, manifest });
    }
  } catch (error) {
    issues.push(`deploy/${folder}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
const manifests = [...objects.values()].map(({ manifest }) => manifest);
issues.push(...(await issuesOfTypes(manifests)), ...manifests.flatMap(issuesOfPods));

for (const issue of issues) console.error(issue);
console.log(`${folders.length} kustomizations, ${manifests.length} different objects, ${issues.length} issues`);
process.exitCode = issues.length === 0 ? 0 : 1;
