// `npm run identities` writes the files that docker-compose.yml mounts: a certificate for each
// service and for NATS, the users of NATS, and for each service that connects to NATS a file with
// its NATS_URL. For docker-compose.one-process.yml it writes the authority alone, and one file with
// all of these URLs, each under its service's name.
// A second run renews the certificates. Running services read them within 10 s, and NATS on `docker
// compose kill -s HUP nats`.

import { chmodSync, copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NATS_USERS, type NatsUser } from '@laurel/topology';
import { prefixOf } from '@laurel/topology/one-process';
import { keepIdentities } from './stack/identities.ts';
import { writePrivate } from './stack/secrets.ts';
import { StartFailure } from './stack/start-failure.ts';

const folder = process.argv[2] ?? fileURLToPath(new URL('../docker/identities', import.meta.url));

try {
  const { filesOf, natsPasswords } = await keepIdentities({
    folder,
    nats: {
      hosts: ['nats'],
      prefix: 'laurel',
      tls: true,
      container: { folder: '/run/identity', monitoring: '127.0.0.1:8222', maxStoreBytes: 1_000_000_000 },
    },
    // The containers run as a user that may not exist on this machine. The folder around the keys
    // is closed to all other users.
    keyMode: 0o644,
  });
  const lineOf = (user: NatsUser) => `NATS_URL=nats://${user}:${natsPasswords[user]}@nats:4222\n`;
  for (const user of NATS_USERS) writePrivate(join(folder, `${user}.env`), lineOf(user));
  const prefixedLines = NATS_USERS.map((user) => prefixOf(user) + lineOf(user));
  writePrivate(join(folder, 'one-process.env'), prefixedLines.join(''));
  const ofOneProcess = join(folder, 'one-process');
  mkdirSync(ofOneProcess, { recursive: true });
  // The mode is set whatever the umask: the container's user reads the folder.
  chmodSync(ofOneProcess, 0o755);
  copyFileSync(filesOf('gateway').ca, join(ofOneProcess, 'ca.crt'));
  process.stdout.write(`Certificates and NATS users are in ${folder}; keep its folder "authority" private.\n`);
} catch (error) {
  if (!(error instanceof StartFailure)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
