import { isRefused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import type { Admission } from '../../admission/admission.ts';
import type { Peppers } from '../../domain/peppers.ts';
import { z } from '../../http/zod.ts';
import { presentProgram } from '../../presenters/program.ts';
import { listPrograms, replaceTestKey as replaceStoredTestKey } from '../../repository/programs.ts';
import { component } from '../component.ts';
import { pathId } from '../fields.ts';
import { newApiKey } from '../new-api-key.ts';
import { answerPageOfIds, programListQuery, programListSchema, programSchema } from '../programs.ts';
import { defineProgramRoute } from './program-route.ts';
import { definePortalRoute } from './route.ts';

export const listOwnPrograms = definePortalRoute({
  method: 'get',
  path: '/programs',
  name: 'listOwnPrograms',
  summary: "List the developer's programs",
  description:
    'A key is shown as its prefix and its last four characters. Only the response that creates a key shows it whole.',
  query: programListQuery,
  success: { status: 200, description: 'Newest first.', schema: programListSchema },
  run: async ({ caller: { developerId }, query }, { database }: { database: Database }) =>
    answerPageOfIds(query, (part) => listPrograms(database, { ...part, developerId }), presentProgram),
});

export const getOwnProgram = defineProgramRoute({
  method: 'get',
  path: '',
  name: 'getOwnProgram',
  summary: 'Get a program',
  description: "Another developer's program is 404.",
  success: { status: 200, description: 'The program.', schema: programSchema },
  run: async ({ caller: { program } }) => ({ body: presentProgram(program) }),
});

export const replaceTestKey = definePortalRoute({
  method: 'post',
  path: '/programs/{programId}/test-key',
  name: 'replaceTestKey',
  summary: 'Replace the test key; the old one stops at once',
  description:
    'Requests with the old key get 401 from then on. A repeated call creates another key and stops the previous one.',
  params: z.object({ programId: pathId }),
  success: {
    status: 200,
    description: 'The new key, shown once.',
    schema: component('TestKey', z.object({ test_key: z.string() })),
  },
  action: 'replace_test_key',
  run: async (
    { caller: { developerId }, params: { programId } },
    {
      database,
      peppers,
      clock,
      admission,
    }: { database: Database; peppers: Peppers; clock: Clock; admission: Pick<Admission, 'revoke'> },
  ) => {
    const { key, stored } = newApiKey(peppers, 'test');
    const replaced = await replaceStoredTestKey(database, { programId, developerId }, stored, clock());
    if (isRefused(replaced)) return replaced;
    for (const apiKeyId of replaced.revokedKeyIds) admission.revoke(apiKeyId);
    return { body: { test_key: key } };
  },
});
