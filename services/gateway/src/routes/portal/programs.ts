import { isRefused } from '@laurel/errors';
import type { Router } from 'express';
import { z } from 'zod';
import type { Dependencies } from '../../dependencies.ts';
import { listPrograms, replaceTestKey } from '../../repository/programs.ts';
import { developerMutation, notFound, parseQuery, pathId, route, sessionOf } from '../api-route.ts';
import { page } from '../fields.ts';
import { newKey } from '../new-key.ts';
import { answerPrograms } from '../program-page.ts';

const programPage = z.object(page);

export function portalProgramRoutes(router: Router, deps: Dependencies): void {
  router.get(
    '/programs',
    route(async (request) => {
      const query = parseQuery(request, programPage);
      if (isRefused(query)) return query;
      const { developerId } = sessionOf(request);
      return answerPrograms(query, (part) => listPrograms(deps.database, { ...part, developerId }));
    }),
  );

  router.post(
    '/programs/:programId/test-key',
    developerMutation(deps, 'replace_test_key', async (request) => {
      const programId = pathId(request, 'programId');
      if (programId === null) return notFound();
      const { developerId } = sessionOf(request);
      const { key, stored } = newKey(deps.config.KEY_PEPPER, 'test');
      const replaced = await replaceTestKey(deps.database, { programId, developerId }, stored, deps.clock());
      if (isRefused(replaced)) return replaced;
      for (const keyHash of replaced.revokedHashes) deps.admission.forget(keyHash);
      return { status: 200, body: { test_key: key } };
    }),
  );
}
