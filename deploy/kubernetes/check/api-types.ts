/**
 * Checks manifests against the types of the API, in two steps, because each finds what the other
 * does not:
 * - The TypeScript compiler reads each manifest as a literal of its type. It refuses unknown fields
 *   at any depth, wrong types and missing fields. The API itself would drop an unknown field with a
 *   warning, and a misspelt probe would be no probe.
 * - The validators of the same package refuse formats and values: quantities, enumerations, ranges.
 * The types are generated from the OpenAPI document of Kubernetes, and from the custom resources of
 * CloudNativePG, cert-manager and the Prometheus operator.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Manifest, titleOf } from './manifest.ts';

const run = promisify(execFile);

const NODE_MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** The packages with the types of the groups that are not part of Kubernetes itself. */
const CUSTOM_RESOURCES: Readonly<Record<string, string>> = {
  'cert-manager.io': '@kubernetes-models/cert-manager',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
  'postgresql.cnpg.io': '@kubernetes-models/cloudnative-pg',
};

const COMPILER_OPTIONS = {
  module: 'nodenext',
  moduleResolution: 'nodenext',
  lib: ['es2024'],
  types: [],
  strict: true,
  skipLibCheck: true,
  noEmit: true,
};

/**
 * A compiler's error: `3.ts(12,5): error TS2353: Object literal may only ...`. Its further lines
 * are indented.
 */
const COMPILER_ERROR = /^(\d+)\.ts\((\d+),\d+\): error TS\d+: (.*(?:\n[ \t].*)*)/gm;

/** Every difference between the manifests and the types of the API, as a sentence. */
export async function issuesOfTypes(manifests: readonly Manifest[]): Promise<readonly string[]> {
  const issues = await compile(manifests);
  // The package also has types of versions that Kubernetes has removed. All of those were unstable.
  const unstable = manifests.filter(({ apiVersion }) => !/\bv\d+$/.test(apiVersion));
  issues.push(...unstable.map((it) => `${titleOf(it)}: ${it.apiVersion} is not a stable version of its API`));
  for (const manifest of manifests) issues.push(...(await validate(manifest)));
  return issues;
}

/** Returns, for example, `kubernetes-models/apps/v1` for `apps/v1`. */
function moduleOf(apiVersion: string): string {
  const [group = ''] = apiVersion.split('/');
  return `${CUSTOM_RESOURCES[group] ?? 'kubernetes-models'}/${apiVersion}`;
}

async function compile(manifests: readonly Manifest[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'laurel-manifests-'));
  try {
    await symlink(NODE_MODULES, join(folder, 'node_modules'));
    const sources = manifests.map(sourceOf);
    for (const [index, lines] of sources.entries()) await writeFile(join(folder, `${index}.ts`), lines.join('\n'));
    const files = sources.map((_lines, index) => `${index}.ts`);
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files }));
    const output = await outputOfCompiler(folder);
    const issues = [...output.matchAll(COMPILER_ERROR)].map(([, file, line, message = '']) => {
      const [manifest, text] = [manifests[Number(file)], sources[Number(file)]?.[Number(line) - 1]?.trim()];
      return `${manifest === undefined ? file : titleOf(manifest)}: ${readable(message)}${text === undefined ? '' : `, at ${text}`}`;
    });
    if (issues.length === 0 && output !== '') throw new Error(`the compiler failed: ${output}`);
    return issues;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Puts a message on one line. Property names are quoted in JSON, and once more by the compiler. */
function readable(message: string): string {
  return message.replace(/\s+/g, ' ').replaceAll(`'"`, "'").replaceAll(`"'`, "'");
}

function sourceOf(manifest: Manifest): readonly string[] {
  const type = `I${manifest.kind}`;
  return [
    `import type { ${type} } from '${moduleOf(manifest.apiVersion)}';`,
    `export const manifest: ${type} = ${JSON.stringify(manifest, null, 2)};`,
  ].flatMap((text) => text.split('\n'));
}

/** Returns what the compiler printed; empty if it accepts everything. */
async function outputOfCompiler(folder: string): Promise<string> {
  try {
    await run(join(NODE_MODULES, '.bin', 'tsc'), ['--pretty', 'false', '-p', '.'], {
      cwd: folder,
      maxBuffer: MAX_OUTPUT_BYTES,
    });
    return '';
  } catch (error) {
    const { stdout, message } = error as { stdout?: string; message: string };
    return stdout || message;
  }
}

type Model = new (data: object) => { validate(): void };

async function validate(manifest: Manifest): Promise<readonly string[]> {
  // If the model does not exist, the compiler reports it.
  const models: Readonly<Record<string, Model>> = await import(moduleOf(manifest.apiVersion)).catch(() => ({}));
  const Kind = models[manifest.kind];
  if (Kind === undefined) return [];
  try {
    new Kind(manifest).validate();
    return [];
  } catch (error) {
    return [`${titleOf(manifest)}: ${error instanceof Error ? error.message : String(error)}`];
  }
}
