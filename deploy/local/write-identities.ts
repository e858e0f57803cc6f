// `npm run identities` writes the files that docker-compose.yml mounts: a certificate for each
// service and for NATS, the users of NATS, and for each service that connects to NATS a file with
// its NATS_URL.
// A second run renews the certificates. Running services read them within 10 s, and NATS on `docker
// compose kill -s HUP nats`.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NATS_USERS } from '@laurel/topology';
import { keepIdentities } from './stack/identities.ts';
import { writePrivate } from './stack/secrets.ts';
import { StartFailure } from './stack/start-failure.ts';

const folder = process.argv[2] ?? fileURLToPath(new URL('../docker/identities', import.meta.url));

try {
  const { natsPasswords } = await keepIdentities({
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
  for (const user of NATS_USERS)
    writePrivate(join(folder, `${user}.env`), `NATS_URL=nats://${user}:${natsPasswords[user]}@nats:4222\n`);
  process.stdout.write(`Certificates and NATS users are in ${folder}; keep its folder "authority" private.\n`);
} catch (error) {
  if (!(error instanceof StartFailure)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
