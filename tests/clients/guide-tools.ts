/**
 * Stand-ins for two tools in the guides' commands, which a machine that runs these tests may lack.
 * This curl prints the status of each response to standard error.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NODE } from '@laurel/testing';

const TOOLS = {
  curl: `let method, body, url;
    const headers = {};
    const argv = process.argv.slice(2);
    for (let arg = argv.shift(); arg !== undefined; arg = argv.shift()) {
      if (arg === '-s') continue;
      else if (arg === '-X') method = argv.shift();
      else if (arg === '-d') body = argv.shift();
      else if (arg === '-H') { const [name, ...value] = argv.shift().split(': '); headers[name] = value.join(': '); }
      else url = arg;
    }
    if (body !== undefined) headers['Content-Type'] ??= 'application/x-www-form-urlencoded';
    const answer = await fetch(url, { method: method ?? (body === undefined ? 'GET' : 'POST'), headers, body });
    console.error(answer.status);
    console.log(await answer.text());`,
  openssl: `const [, , , hash, , key] = process.argv;
    console.log('SHA2-256(stdin)= ' + createHmac(hash.slice(1), key).update(readFileSync(0)).digest('hex'));`,
};

export interface GuideTools extends Disposable {
  /** A PATH in which these tools precede the machine's. */
  readonly path: string;
}

export function createGuideTools(): GuideTools {
  const folder = mkdtempSync(join(tmpdir(), 'laurel-guide-'));
  for (const [name, code] of Object.entries(TOOLS)) {
    const imports = `import { createHmac } from 'node:crypto';\nimport { readFileSync } from 'node:fs';\n`;
    const tool = join(folder, name);
    writeFileSync(`${tool}.mjs`, `${imports}${code}\n`);
    writeFileSync(tool, `#!/bin/sh\nexec '${NODE}' '${tool}.mjs' "$@"\n`);
    chmodSync(tool, 0o755);
  }
  return {
    path: `${folder}:${process.env.PATH}`,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
