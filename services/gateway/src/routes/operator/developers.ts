import { isRefused } from '@laurel/errors';
import { newId } from '@laurel/ids';
import type { Router } from 'express';
import { z } from 'zod';
import type { Dependencies } from '../../dependencies.ts';
import { hashPassword } from '../../domain/password.ts';
import { insertDeveloper } from '../../repository/developers.ts';
import { mutation, parseBody } from '../api-route.ts';
import { email } from '../fields.ts';

const createDeveloper = z.object({
  email,
  // Characters as a person counts them; the upper bound keeps hashing cheap.
  password: z
    .string()
    .refine((value) => [...value].length >= 12 && [...value].length <= 128, 'must have 12 to 128 characters'),
});

export function developerRoutes(router: Router, deps: Dependencies): void {
  router.post(
    '/developers',
    mutation(deps, 'create_developer', async (request) => {
      const body = parseBody(request, createDeveloper);
      if (isRefused(body)) return body;
      const passwordHash = await hashPassword(body.password);
      const developer = await insertDeveloper(deps.database, { id: newId(), email: body.email, passwordHash });
      if (isRefused(developer)) return developer;
      return { status: 201, body: { id: developer.id, email: developer.email } };
    }),
  );
}
