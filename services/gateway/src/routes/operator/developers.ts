import { isRefused } from '@laurel/errors';
import { newId } from '@laurel/ids';
import { hash } from '@node-rs/argon2';
import type { Router } from 'express';
import { z } from 'zod';
import type { Dependencies } from '../../dependencies.ts';
import { insertDeveloper } from '../../repository/developers.ts';
import { mutation, parseBody } from '../api-route.ts';
import { email } from '../fields.ts';

/** The package's own name for it is a const enum, which type stripping cannot follow. */
const ARGON2ID = 2;

/** A set of parameters that OWASP recommends: 19 MiB, two passes, one lane. */
const PASSWORD_HASHING = { algorithm: ARGON2ID, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

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
      // Normalised, because two keyboards may write one letter in two ways.
      const passwordHash = await hash(body.password.normalize('NFKC'), PASSWORD_HASHING);
      const developer = await insertDeveloper(deps.database, { id: newId(), email: body.email, passwordHash });
      if (isRefused(developer)) return developer;
      return { status: 201, body: { id: developer.id, email: developer.email } };
    }),
  );
}
