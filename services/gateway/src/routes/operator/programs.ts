import { isRefused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import type { Clock, Logger } from '@laurel/service';
import { newId } from '@laurel/values/ids';
import { MAX_NAME_CHARACTERS } from '@laurel/values/limits';
import type { Admission } from '../../admission/admission.ts';
import { type ProgramFactServices, tryToAnnounce } from '../../clients/program-facts.ts';
import type { WebhookClient } from '../../clients/webhook.ts';
import type { Peppers } from '../../domain/peppers.ts';
import { z } from '../../http/zod.ts';
import { presentOperatorProgram } from '../../presenters/program.ts';
import { developerExists, noSuchDeveloper } from '../../repository/developers.ts';
import type { AnnounceFacts } from '../../repository/program-facts.ts';
import {
  assignDeveloper,
  findProgram,
  insertProgram,
  listPrograms as listStoredPrograms,
  replaceLiveKey as replaceStoredLiveKey,
  approveProgram as storeApproval,
  updateProgram,
} from '../../repository/programs.ts';
import { component, orNull } from '../component.ts';
import { CHANGE_BODY, id, nextCursor, pathId, text } from '../fields.ts';
import { newApiKey } from '../new-api-key.ts';
import { answerPageOfIds, programListQuery, programSchema, programStatus } from '../programs.ts';
import { uuid } from '../v1/fields.ts';
import { defineOperatorRoute } from './route.ts';

const newProgram = component(
  'ProgramRequest',
  z.object({ name: text(MAX_NAME_CHARACTERS), developer_id: id.nullish() }),
);

// The schema is strict, like that of every change: otherwise a request with a misspelt field would
// change nothing and get a 200.
const programChange = component(
  'ProgramChange',
  z
    .strictObject({
      status: z.enum(['approved', 'suspended', 'closed']).optional(),
      deletion_scheduled: z.boolean().optional(),
      developer_id: orNull(id).optional().openapi({ description: 'Sent alone. Null: no developer.' }),
    })
    .refine((body) => Object.keys(body).length > 0, 'must change something')
    .refine((body) => body.developer_id === undefined || Object.keys(body).length === 1, {
      path: ['developer_id'],
      message: 'must be sent alone',
    }),
  CHANGE_BODY,
);

const operatorProgram = component(
  'OperatorProgram',
  programSchema.extend({
    developer_id: uuid.nullable().openapi({ description: 'Null: no developer sees the program.' }),
  }),
);

const operatorProgramList = component(
  'OperatorProgramList',
  z.object({ data: z.array(operatorProgram), next_cursor: nextCursor }),
);

const params = z.object({ programId: pathId });

interface Programs {
  readonly database: Database;
}
interface Keys extends Programs {
  readonly peppers: Peppers;
}
/** The dependencies of the routes that replace a key. */
interface KeyChanges {
  readonly clock: Clock;
  readonly admission: Pick<Admission, 'revoke'>;
}
/** The dependencies of the routes that change what other services know of a program. */
interface Facts extends Programs, ProgramFactServices {
  readonly logger: Logger;
}

function announcing({ logger, ...services }: Facts, options: { readonly requestId: string }): AnnounceFacts {
  return (facts) => tryToAnnounce(services, facts, { ...options, logger });
}

export const createProgram = defineOperatorRoute({
  method: 'post',
  path: '/programs',
  name: 'createProgram',
  summary: 'Create a draft program with its test key',
  description:
    'Only this response shows the `test_key`; the developer can replace the key in the portal. A draft works in test, and the approval adds live. Without `developer_id` no developer sees the program. A repeated call creates another program.',
  body: newProgram,
  success: {
    status: 201,
    description: 'The program and its test key, shown once.',
    schema: component('CreatedProgram', operatorProgram.extend({ test_key: z.string() })),
  },
  refusals: { not_found: 'There is no such developer.' },
  action: 'create_program',
  recording: { creates: 'program' },
  run: async ({ body, options }, dependencies: Keys & Facts & { webhook: WebhookClient }) => {
    const { database, peppers, webhook } = dependencies;
    const programId = newId();
    const developerId = body.developer_id ?? null;
    if (developerId !== null) {
      if (!(await developerExists(database, developerId))) return noSuchDeveloper();
      // The webhook service gets the program before it is stored here, so that each of its events
      // has a developer.
      const put = await webhook.putProgram({ programId, developerId, version: 0n }, options);
      if (isRefused(put)) return put;
    }
    const { key, stored } = newApiKey(peppers, 'test');
    const program = await insertProgram(
      database,
      { id: programId, name: body.name, developerId },
      stored,
      announcing(dependencies, options),
    );
    return isRefused(program) ? program : { body: { ...presentOperatorProgram(program), test_key: key } };
  },
});

export const listPrograms = defineOperatorRoute({
  method: 'get',
  path: '/programs',
  name: 'listPrograms',
  summary: 'List programs',
  description:
    'A key is shown as its prefix and its last four characters. Only the response that creates a key shows it whole.',
  query: programListQuery.extend({
    status: programStatus.optional().openapi({ description: 'Only programs with this status.' }),
    developer_id: id.optional().openapi({ description: 'Only programs of this developer.' }),
  }),
  success: { status: 200, description: 'Newest first.', schema: operatorProgramList },
  run: async ({ query }, { database }: Programs) => {
    const { status, developer_id: developerId } = query;
    const list = (part: { beforeId: string | null; limit: number }) =>
      listStoredPrograms(database, { ...part, status, developerId });
    return answerPageOfIds(query, list, presentOperatorProgram);
  },
});

export const getProgram = defineOperatorRoute({
  method: 'get',
  path: '/programs/{programId}',
  name: 'getProgram',
  summary: 'Read a program',
  params,
  success: { status: 200, description: 'The program with its keys.', schema: operatorProgram },
  run: async ({ params: { programId } }, { database }: Programs) => {
    const program = await findProgram(database, programId);
    return isRefused(program) ? program : { body: presentOperatorProgram(program) };
  },
});

export const approveProgram = defineOperatorRoute({
  method: 'post',
  path: '/programs/{programId}/approve',
  name: 'approveProgram',
  summary: 'Approve a program and issue its live key',
  description:
    'Only this response shows the `live_key`. The operator whose answer was lost may repeat the call within 10 minutes, while no request has used the key: the answer has a new one, and the lost one stops. Otherwise a program is approved once, and `POST .../live-key` replaces the key. The test key stays valid.',
  params,
  success: {
    status: 200,
    description: 'The program and its live key, shown once.',
    schema: component('ApprovedProgram', operatorProgram.extend({ live_key: z.string() })),
  },
  refusals: { conflict: 'The program was approved before and the call is no such repeat, or it is closed.' },
  action: 'approve_program',
  run: async ({ caller, params: { programId }, options }, dependencies: Keys & Facts & KeyChanges) => {
    const { database, peppers, clock, admission } = dependencies;
    const { key, stored } = newApiKey(peppers, 'live');
    const approval = { programId, liveKey: stored, operator: caller, now: clock() };
    const approved = await storeApproval(database, approval, announcing(dependencies, options));
    if (isRefused(approved)) return approved;
    for (const apiKeyId of approved.revokedKeyIds) admission.revoke(apiKeyId);
    return { body: { ...presentOperatorProgram(approved.program), live_key: key } };
  },
});

export const replaceLiveKey = defineOperatorRoute({
  method: 'post',
  path: '/programs/{programId}/live-key',
  name: 'replaceLiveKey',
  summary: 'Replace the live key; the old one stops at once',
  description:
    'Requests with the old key get 401 from then on. A repeated call creates another key and stops the previous one.',
  params,
  success: {
    status: 200,
    description: 'The new key, shown once.',
    schema: component('LiveKey', z.object({ live_key: z.string() })),
  },
  refusals: { conflict: 'The program is not approved, or has no live key.' },
  action: 'replace_live_key',
  run: async ({ params: { programId } }, { database, peppers, clock, admission }: Keys & KeyChanges) => {
    const { key, stored } = newApiKey(peppers, 'live');
    const replaced = await replaceStoredLiveKey(database, programId, stored, clock());
    if (isRefused(replaced)) return replaced;
    for (const apiKeyId of replaced.revokedKeyIds) admission.revoke(apiKeyId);
    return { body: { live_key: key } };
  },
});

export const changeProgram = defineOperatorRoute({
  method: 'patch',
  path: '/programs/{programId}',
  name: 'changeProgram',
  summary: 'Reinstate, suspend or close a program, schedule its deletion, or change its developer',
  description:
    'Every key of a program that is suspended, closed or scheduled for deletion is refused with 401. `approved` makes the keys of a suspended or closed program work again; it issues no key. With `developer_id` the previous developer no longer sees the program, and no event of it is sent to their endpoints any more; those of the new developer get the events from then on. The API keys and the secrets of its integrations stay valid, also for people who know them.',
  params,
  body: programChange,
  success: { status: 200, description: 'The program.', schema: operatorProgram },
  refusals: { not_found: 'There is no such program or developer.' },
  action: 'change_program',
  run: async ({ params: { programId }, body, options }, dependencies: Facts) => {
    const { developer_id: developerId } = body;
    if (developerId !== undefined) {
      const announce = announcing(dependencies, options);
      const program = await assignDeveloper(dependencies.database, { programId, developerId }, announce);
      return isRefused(program) ? program : { body: presentOperatorProgram(program), logged: { change: body } };
    }
    const changes = { status: body.status ?? null, deletionScheduled: body.deletion_scheduled ?? null };
    const announce = announcing(dependencies, options);
    const program = await updateProgram(dependencies.database, programId, changes, announce);
    return isRefused(program) ? program : { body: presentOperatorProgram(program), logged: { change: body } };
  },
});
