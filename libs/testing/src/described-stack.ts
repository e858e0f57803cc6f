import { readFileSync } from 'node:fs';
import {
  type CertificateAuthority,
  openCertificateAuthority,
} from '@laurel/local-infrastructure/certificate-authority';
import { z } from 'zod';
import type { Service } from './checkout.ts';
import type { Stack } from './stack.ts';
import { connectDatabase, type StackDatabase } from './stack-databases.ts';

/**
 * Names the file that describes a running stack, for example a stack of containers. The suites then
 * use that stack instead of starting their own.
 */
export const DESCRIBED_STACK_VARIABLE = 'LAUREL_TEST_STACK';

/** The parts of a stack that a suite needs if it does not start, change or end the stack. */
export type JoinableStack = Pick<
  Stack,
  'baseUrl' | 'baseUrls' | 'operatorToken' | 'ca' | 'receiverHost' | 'database' | typeof Symbol.asyncDispose
>;

const databaseUrls = z.object({ superuser_url: z.url(), owner_url: z.url(), running_url: z.url() });

/**
 * The ready.json of `npm start`, with the address of receivers and the databases' URLs for tests.
 */
const description = z.object({
  base_url: z.url(),
  operator_token: z.string(),
  webhook_ca: z.object({ certificate: z.string(), key: z.string(), receiver_host: z.string() }),
  databases: z.record(z.string(), databaseUrls),
});

/** The content of the file. Paths are absolute. */
export type StackDescription = z.infer<typeof description>;

/**
 * Opens the stack that the file describes. Disposing closes the connections to its databases; the
 * stack keeps running.
 */
export async function openDescribedStack(file: string): Promise<JoinableStack> {
  const described = description.parse(JSON.parse(readFileSync(file, 'utf8')));
  await using cleanup = new AsyncDisposableStack();
  const ca: CertificateAuthority = await openCertificateAuthority({
    certificate: readFileSync(described.webhook_ca.certificate, 'utf8'),
    key: readFileSync(described.webhook_ca.key, 'utf8'),
  });
  const databases = new Map<string, StackDatabase>();
  for (const [service, urls] of Object.entries(described.databases)) {
    const query = connectDatabase(urls.superuser_url, cleanup);
    databases.set(service, { ownerUrl: urls.owner_url, runningUrl: urls.running_url, query });
  }
  const owned = cleanup.move();
  return {
    baseUrl: described.base_url,
    baseUrls: [described.base_url],
    operatorToken: described.operator_token,
    ca,
    receiverHost: described.webhook_ca.receiver_host,
    database: (service: Service) => {
      const database = databases.get(service);
      if (database === undefined) throw new Error(`${file} describes no database of ${service}`);
      return database;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
