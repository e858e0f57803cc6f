/**
 * `npm run archive` archives months of both contest services and the wallet, one service after the
 * other, or of the service that `--service` names. A month that was written before is read by the
 * service that its manifest names. Each service has a command for this, by
 * libs/attempts/src/archive/run-archive.ts, which gets the same arguments.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const SERVICES = ['challenge', 'tournament', 'wallet'] as const;
const DELETING_SERVICES = ['challenge', 'tournament'] as const;

const option = { type: 'string' } as const;
const { values } = parseArgs({
  options: { before: option, delete: option, service: option, verify: option, month: option },
  strict: false,
});
const named = values.service ?? serviceOfMonth(values.verify ?? values.month);
const services = named === undefined ? SERVICES : SERVICES.filter((service) => service === named);
if (services.length === 0) {
  console.error(`the service ${named} has no archive; these have one: ${SERVICES.join(', ')}`);
  process.exitCode = 2;
}
if (values.delete !== undefined && named === undefined) {
  console.error(`a month is deleted of one service: name it by --service ${DELETING_SERVICES.join(' or ')}`);
  process.exit(2);
}
for (const service of services) {
  const command = fileURLToPath(new URL(`../../services/${service}/src/archive.ts`, import.meta.url));
  const { status, signal } = spawnSync(process.execPath, [command, ...process.argv.slice(2)], { stdio: 'inherit' });
  if (signal !== null) console.error(`${service}: ended by ${signal}`);
  if (status !== 0) process.exitCode = status ?? 1;
  // If one service refuses a month, the others still archive their own. Other runs are of one
  // service.
  if (values.before === undefined) break;
}

/** The service that a month's manifest names, before it is verified; undefined without a month. */
function serviceOfMonth(folder: string | boolean | undefined): string | undefined {
  if (typeof folder !== 'string') return undefined;
  const { manifest } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as {
    manifest: { service: string };
  };
  return manifest.service;
}
