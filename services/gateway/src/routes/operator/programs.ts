import { isRefused } from '@laurel/errors';
import { newId } from '@laurel/ids';
import type { Router } from 'express';
import { z } from 'zod';
import type { Dependencies } from '../../dependencies.ts';
import { presentProgram } from '../../presenters/program.ts';
import { developerExists, noSuchDeveloper } from '../../repository/developers.ts';
import { approveProgram, findProgram, insertProgram, listPrograms, updateProgram } from '../../repository/programs.ts';
import { callOptions, mutation, notFound, parseBody, parseQuery, pathId, route } from '../api-route.ts';
import { id, page, text } from '../fields.ts';
import { newKey } from '../new-key.ts';
import { answerPrograms } from '../program-page.ts';

const createProgram = z.object({ name: text(255), developer_id: id.nullish() });

// Strict, as every change is: a misspelt field would change nothing and answer 200.
const changeProgram = z
  .strictObject({
    status: z.enum(['approved', 'suspended', 'closed']).optional(),
    deletion_scheduled: z.boolean().optional(),
  })
  .refine((body) => Object.keys(body).length > 0, 'must change something');

const addInsider = z.object({ account_id: id });

const programPage = z.object(page);

export function programRoutes(router: Router, deps: Dependencies): void {
  router.post(
    '/programs',
    mutation(deps, 'create_program', async (request) => {
      const body = parseBody(request, createProgram);
      if (isRefused(body)) return body;
      const programId = newId();
      const developerId = body.developer_id ?? null;
      if (developerId !== null) {
        if (!(await developerExists(deps.database, developerId))) return noSuchDeveloper();
        // Told before the program is there, so that no event of it can find nobody to go to.
        const told = await deps.webhook.putProgram({ programId, developerId }, callOptions(request));
        if (isRefused(told)) return told;
      }
      const { key, stored } = newKey(deps.config.KEY_PEPPER, 'test');
      const program = await insertProgram(deps.database, { id: programId, name: body.name, developerId }, stored);
      if (isRefused(program)) return program;
      return { status: 201, body: { ...presentProgram(program), test_key: key } };
    }),
  );

  router.get(
    '/programs',
    route(async (request) => {
      const query = parseQuery(request, programPage);
      if (isRefused(query)) return query;
      return answerPrograms(query, (part) => listPrograms(deps.database, part));
    }),
  );

  router.get(
    '/programs/:programId',
    route(async (request) => {
      const programId = pathId(request, 'programId');
      const program = programId === null ? notFound() : await findProgram(deps.database, programId);
      return isRefused(program) ? program : { status: 200, body: presentProgram(program) };
    }),
  );

  router.post(
    '/programs/:programId/approve',
    mutation(deps, 'approve_program', async (request) => {
      const programId = pathId(request, 'programId');
      if (programId === null) return notFound();
      const { key, stored } = newKey(deps.config.KEY_PEPPER, 'live');
      const program = await approveProgram(deps.database, programId, stored);
      return isRefused(program) ? program : { status: 200, body: { ...presentProgram(program), live_key: key } };
    }),
  );

  router.patch(
    '/programs/:programId',
    mutation(deps, 'change_program', async (request) => {
      const programId = pathId(request, 'programId');
      const body = parseBody(request, changeProgram);
      if (isRefused(body)) return body;
      if (programId === null) return notFound();
      const changes = { status: body.status ?? null, deletionScheduled: body.deletion_scheduled ?? null };
      const program = await updateProgram(deps.database, programId, changes);
      return isRefused(program) ? program : { status: 200, body: presentProgram(program), logged: { change: body } };
    }),
  );

  router.post(
    '/programs/:programId/insiders',
    mutation(deps, 'add_insider', async (request) => {
      const programId = pathId(request, 'programId');
      const body = parseBody(request, addInsider);
      if (isRefused(body)) return body;
      const program = programId === null ? notFound() : await findProgram(deps.database, programId);
      if (isRefused(program)) return program;
      const insider = { programId: program.id, accountId: body.account_id };
      const added = await deps.wallet.addInsider(insider, callOptions(request));
      if (isRefused(added)) return added;
      return {
        status: 201,
        body: { program_id: program.id, account_id: body.account_id },
        logged: { accountId: body.account_id },
      };
    }),
  );
}
