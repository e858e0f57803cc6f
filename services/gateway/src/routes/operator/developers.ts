import { isRefused } from '@laurel/errors';
import { isAtMost } from '@laurel/json';
import type { Database } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import { newId } from '@laurel/values/ids';
import { hashPassword, MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS } from '../../domain/password.ts';
import type { Peppers } from '../../domain/peppers.ts';
import { mintToken } from '../../domain/session.ts';
import { hashLinkToken, SIGN_IN_LINK_MS } from '../../domain/sign-in-link.ts';
import { z } from '../../http/zod.ts';
import {
  insertDeveloper,
  listDevelopers as listStoredDevelopers,
  noSuchDeveloper,
} from '../../repository/developers.ts';
import { insertSignInLink } from '../../repository/sign-in-links.ts';
import { component } from '../component.ts';
import { email, id, nextCursor, page, pathId } from '../fields.ts';
import { answerPageOfIds } from '../programs.ts';
import { timestamp, uuid } from '../v1/fields.ts';
import { defineOperatorRoute } from './route.ts';

const newDeveloper = component(
  'DeveloperRequest',
  z.object({
    email,
    password: z
      .string()
      .refine(
        (value) => !isAtMost(value, MIN_PASSWORD_CHARACTERS - 1) && isAtMost(value, MAX_PASSWORD_CHARACTERS),
        `must have ${MIN_PASSWORD_CHARACTERS} to ${MAX_PASSWORD_CHARACTERS} characters`,
      )
      .openapi({ minLength: MIN_PASSWORD_CHARACTERS, maxLength: MAX_PASSWORD_CHARACTERS }),
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

export const listDevelopers = defineOperatorRoute({
  method: 'get',
  path: '/developers',
  name: 'listDevelopers',
  summary: 'List developers',
  query: z.object({
    email: email.optional().openapi({ description: 'Only the developer with this e-mail.' }),
    id: id.optional().openapi({ description: 'Only the developer with this id.' }),
    ...page,
  }),
  success: {
    status: 200,
    description: 'Newest first.',
    schema: component(
      'DeveloperList',
      z.object({
        data: z.array(
          component(
            'ListedDeveloper',
            z.object({
              id: uuid,
              email: z.string(),
              created_at: timestamp,
              programs: z.int().openapi({ description: 'How many programs the developer has, in any status.' }),
            }),
          ),
        ),
        next_cursor: nextCursor,
      }),
    ),
  },
  run: async ({ query }, { database }: { database: Database }) =>
    answerPageOfIds(
      query,
      (part) => listStoredDevelopers(database, { ...part, email: query.email ?? null, id: query.id ?? null }),
      ({ id: developerId, email: address, createdAt, programs }) => ({
        id: developerId,
        email: address,
        created_at: createdAt.toISOString(),
        programs,
      }),
    ),
});

export const createSignInLink = defineOperatorRoute({
  method: 'post',
  path: '/developers/{developerId}/sign-in-link',
  name: 'createSignInLink',
  summary: 'Make a link that signs a developer in once',
  description:
    'The developer opens `/portal/sign-in#<token>` of this host within 15 minutes. The token works once, and only this response shows it. Earlier links of the developer continue to work until they expire.',
  params: z.object({ developerId: pathId }),
  success: {
    status: 201,
    description: 'The token of the link.',
    schema: component('OneTimeLink', z.object({ token: z.string(), expires_at: timestamp })),
  },
  action: 'create_sign_in_link',
  run: async (
    { params: { developerId } },
    { database, peppers, clock }: { database: Database; peppers: Peppers; clock: Clock },
  ) => {
    const token = mintToken();
    const createdAt = clock();
    const expiresAt = new Date(createdAt.getTime() + SIGN_IN_LINK_MS);
    const tokenHash = hashLinkToken(peppers.current.bytes, token);
    const isStored = await insertSignInLink(database, { tokenHash, developerId, createdAt, expiresAt });
    return isStored ? { body: { token, expires_at: expiresAt.toISOString() } } : noSuchDeveloper();
  },
});
