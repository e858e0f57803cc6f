/** Connections ignore libpq's environment variables. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

const ASK = `
const [, , url] = process.argv;
const { default: pg } = await import('pg');
const { ssl, options, connect_timeout, application_name, password } = new pg.Client({ connectionString: url }).connectionParameters;
console.log(JSON.stringify({ ssl, options, connect_timeout, application_name, password }));
`;

/**
 * Returns the connection parameters of a process whose shell has libpq's variables, after the
 * process has loaded one of this library's modules.
 */
function parametersOf(url: string, module: string): unknown {
  const source = `await import(${JSON.stringify(new URL(module, import.meta.url).href)});${ASK}`;
  const env = {
    PATH: process.env.PATH,
    PGSSLMODE: 'require',
    PGOPTIONS: '-c nonsense=1',
    PGCONNECT_TIMEOUT: '1',
    PGAPPNAME: 'shell',
    PGPASSWORD: 'of-the-shell',
  };
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '--eval', source, '--', 'x', url], {
      cwd: new URL('.', import.meta.url),
      encoding: 'utf8',
      env,
    }),
  );
}

test.each(['./index.ts', './roles.ts', './migrate.ts'])(
  "a process that loads %s ignores libpq's variables",
  (module) => {
    const plain = parametersOf('postgres://user@127.0.0.1/name', module);
    expect(plain).toMatchObject({ ssl: false, connect_timeout: 0 });
    expect(JSON.stringify(plain)).not.toMatch(/nonsense|shell/);
    expect(parametersOf('postgres://user@127.0.0.1/name?sslmode=no-verify', module)).toMatchObject({
      ssl: { rejectUnauthorized: false },
    });
  },
);
