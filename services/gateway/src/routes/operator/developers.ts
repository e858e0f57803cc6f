import { isRefused } from '@laurel/errors';
import { newId } from '@laurel/ids';
import { isAtMost } from '@laurel/json';
import type { Database } from '@laurel/postgres';
import { hashPassword } from '../../domain/password.ts';
import { z } from '../../http/zod.ts';
import { insertDeveloper } from '../../repository/developers.ts';
import { component } from '../component.ts';
import { email } from '../fields.ts';
import { uuid } from '../v1/fields.ts';
import { defineOperatorRoute } from './route.ts';

const newDeveloper = component(
  'DeveloperRequest',
  z.object({
    email,
    // Characters as a person counts them; the upper bound limits the cost of hashing.
    password: z
      .string()
      .refine((value) => !isAtMost(value, 11) && isAtMost(value, 128), 'must have 12 to 128 characters')
      .openapi({ minLength: 12, maxLength: 128 }),
  }),
);

export const createDeveloper = defineOperatorRoute({
  method: 'post',
  path: '/developers',
  name: 'createDeveloper',
  summary: 'Create a developer, who can then sign in to the portal',
  description: 'Laurel sends no e-mail: give the developer the password yourself. No response shows it.',
  body: newDeveloper,
  success: {
    status: 201,
    description: 'The developer.',
    schema: component('Developer', z.object({ id: uuid, email: z.string() })),
  },
  refusals: { conflict: 'The e-mail is taken.' },
  action: 'create_developer',
  recording: { creates: 'developer', records: ['email'] },
  run: async ({ body }, { database }: { database: Database }) => {
    const passwordHash = await hashPassword(body.password);
    const developer = await insertDeveloper(database, { id: newId(), email: body.email, passwordHash });
    return isRefused(developer) ? developer : { body: { id: developer.id, email: developer.email } };
  },
});
