import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CHECKOUT } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPartnerProject, type PartnerProject } from './partner-project.ts';

const STRICT = { strict: true, skipLibCheck: false, noEmit: true, target: 'es2022', exactOptionalPropertyTypes: true };
const IN_NODE = { ...STRICT, module: 'nodenext', lib: ['es2023'], types: ['node'] };
const BUNDLED = { ...STRICT, module: 'esnext', moduleResolution: 'bundler', lib: ['es2023', 'dom'], types: [] };

const LATEST = { program: join(CHECKOUT, 'node_modules/.bin/tsc'), version: /^Version 7\./ };
/** The version that comes with Are The Types Wrong, wherever npm has put it. */
const OLDER = { program: compilerBeside('@arethetypeswrong/core'), version: /^Version 5\.6\./ };

function compilerBeside(dependency: string): string {
  const ofChecks = createRequire(join(CHECKOUT, 'deploy/local/package.json'));
  return createRequire(ofChecks.resolve(dependency)).resolve('typescript/bin/tsc');
}

/** A compiler's output and exit code; rejects if the compiler did not run. */
async function run(program: string, args: readonly string[], folder: string) {
  try {
    return { code: 0, ...(await promisify(execFile)(program, args, { cwd: folder })) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
    if (typeof code !== 'number') throw error;
    return { code, stdout, stderr };
  }
}

describe('the declarations of the packed libraries', () => {
  let project: PartnerProject;
  beforeAll(async () => {
    project = await createPartnerProject(['libs/sdk', 'libs/browser']);
    for (const file of ['types.ts', 'page.ts']) project.add(file);
    mkdirSync(join(project.folder, 'node_modules', '@types'));
    for (const name of ['@types/node', 'undici-types']) {
      symlinkSync(join(CHECKOUT, 'node_modules', name), join(project.folder, 'node_modules', name));
    }
  });
  afterAll(() => project?.[Symbol.asyncDispose]());

  test.each([
    { name: 'in a server on Node, without the types of a browser', compiler: LATEST, options: IN_NODE },
    { name: 'in a bundled worker, without the types of Node', compiler: LATEST, options: BUNDLED },
    {
      name: 'in a server that is lax with optional members',
      compiler: LATEST,
      options: { ...IN_NODE, exactOptionalPropertyTypes: false },
    },
    { name: 'with TypeScript 5.6', compiler: OLDER, options: BUNDLED },
    { name: 'in a page', compiler: LATEST, options: BUNDLED, file: 'page.ts' },
    { name: 'in a page, with TypeScript 5.6', compiler: OLDER, options: BUNDLED, file: 'page.ts' },
  ])('strict code of a partner compiles $name', async ({ compiler, options, file = 'types.ts' }) => {
    const config = { compilerOptions: options, files: [file] };
    writeFileSync(join(project.folder, 'tsconfig.json'), JSON.stringify(config));
    expect((await run(compiler.program, ['--version'], project.folder)).stdout).toMatch(compiler.version);
    const compiled = await run(compiler.program, ['--pretty', 'false'], project.folder);
    expect(compiled).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});
