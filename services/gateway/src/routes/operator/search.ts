/** What an operator finds by an id, an e-mail or a player_ref, in all services at once. */
import type { OwningServices } from '@laurel/attempts/client';
import { isRefused, type Refused, refused } from '@laurel/errors';
import { CallFailedError } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { Environment, type FoundItem, type Tenant } from '@laurel/proto/common';
import { ENVIRONMENTS, ITEM_KINDS, nameOf } from '@laurel/proto/enum-names';
import { type Account, AccountFlag } from '@laurel/proto/wallet';
import { isUuid } from '@laurel/values/ids';
import { MAX_PAGE_ROWS } from '@laurel/values/limits';
import type { WalletClient } from '../../clients/wallet.ts';
import type { WebhookClient } from '../../clients/webhook.ts';
import { z } from '../../http/zod.ts';
import { findDeveloper } from '../../repository/developers.ts';
import { findProgram } from '../../repository/programs.ts';
import { findRequestLine } from '../../repository/requests.ts';
import { component, orNull } from '../component.ts';
import { email as emailField, environmentName, id } from '../fields.ts';
import { playerRef, uuid } from '../v1/fields.ts';
import { defineOperatorRoute } from './route.ts';

/** How long a service may take. One that has not answered by then is named as missing. */
const DEADLINE_MS = 2_000;

const OWN_KINDS = ['program', 'developer', 'request'] as const;
const KINDS = [...(Object.keys(ITEM_KINDS) as (keyof typeof ITEM_KINDS)[]), ...OWN_KINDS, 'player_ref'] as const;

type Kind = (typeof KINDS)[number];
type Found = z.output<typeof foundItem>;

const kind = component('FoundKind', z.enum(KINDS));

const foundItem = component(
  'FoundItem',
  z.object({
    kind,
    id: z.string().openapi({ description: 'A uuid; the `player_ref` of that kind.' }),
    program_id: uuid.nullable(),
    environment: orNull(environmentName),
    attempt_id: uuid.nullable().openapi({ description: 'The attempt that it is, or belongs to.' }),
    account_id: uuid.nullable().openapi({ description: 'The account that it is, or belongs to.' }),
    summary: z.string(),
  }),
);

interface Searched extends OwningServices {
  readonly wallet: WalletClient;
  readonly webhook: WebhookClient;
  readonly database: Database;
}

type Options = { readonly requestId: string; readonly deadlineMs: number; readonly retryLostReply: true };

/** A place that a search looks in, and the kinds of things that only this place contains. */
interface Place {
  readonly kinds: readonly Kind[];
  readonly find: () => Promise<readonly Found[] | Refused>;
}

export const search = defineOperatorRoute({
  method: 'get',
  path: '/search',
  name: 'search',
  summary: 'Find what an id, an e-mail or a player_ref names',
  description:
    'An id may be that of an attempt, receipt, challenge, tournament, round, account, award, delivery, event, request, program or developer. With `program_id`, `q` may also be a `player_ref` of that program. `missing` has the kinds whose service did not answer within 2 seconds.',
  query: z.object({
    q: playerRef.openapi({ description: 'A uuid, an e-mail, or a `player_ref`; compared exactly.' }),
    program_id: id.optional().openapi({ description: 'The program whose `player_ref` it may be.' }),
  }),
  success: {
    status: 200,
    description: 'What was found; an empty list if there is nothing.',
    schema: component(
      'SearchResult',
      z.object({
        data: z.array(foundItem),
        missing: z.array(kind).openapi({ description: 'Kinds that could not be searched now.' }),
      }),
    ),
  },
  run: async ({ query: { q, program_id: programId }, options: { requestId } }, services: Searched) => {
    const options: Options = { requestId, deadlineMs: DEADLINE_MS, retryLostReply: true };
    const email = emailField.safeParse(q);
    const places = [
      ...(isUuid(q) ? placesOfId(q.toLowerCase(), services, options) : []),
      ...(email.success ? placesOfEmail(email.data, services, options) : []),
      ...(programId === undefined ? [] : [placeOfPlayer({ programId, playerRef: q }, services, options)]),
    ];
    if (places.length === 0)
      return refused('invalid_request', 'q: must be a uuid or an e-mail; a player_ref needs program_id');
    const looked = await Promise.all(places.map(lookIn));
    const refusal = looked.find(isRefused);
    if (refusal !== undefined) return refusal;
    const results = looked.flatMap((it) => (isRefused(it) ? [] : [it]));
    return {
      body: {
        data: results.flatMap(({ found }) => found),
        missing: [...new Set(results.flatMap(({ missing }) => missing))],
      },
    };
  },
});

async function lookIn({ kinds, find }: Place) {
  try {
    const found = await find();
    return isRefused(found) ? found : { found, missing: [] };
  } catch (error) {
    if (error instanceof CallFailedError) return { found: [], missing: kinds };
    throw error;
  }
}

function placesOfId(searched: string, services: Searched, options: Options): readonly Place[] {
  const { challenge, tournament, wallet, webhook, database } = services;
  const place = (
    kinds: readonly Kind[],
    service: {
      lookUpId(request: { id: string }, options: Options): Promise<{ items: readonly FoundItem[] } | Refused>;
    },
  ): Place => ({
    kinds,
    find: async () => {
      const answer = await service.lookUpId({ id: searched }, options);
      return isRefused(answer) ? answer : answer.items.map((item) => presentItem(searched, item));
    },
  });
  return [
    place(['attempt', 'receipt', 'challenge'], challenge),
    place(['attempt', 'receipt', 'tournament', 'round'], tournament),
    place(['account', 'award'], wallet),
    place(['delivery', 'event'], webhook),
    { kinds: OWN_KINDS, find: () => findOwn(searched, database) },
  ];
}

/** What the gateway's own database has. */
async function findOwn(searched: string, database: Database): Promise<readonly Found[]> {
  const [program, developer, request] = await Promise.all([
    findProgram(database, searched),
    findDeveloper(database, { id: searched }),
    findRequestLine(database, searched),
  ]);
  return [
    ...(isRefused(program)
      ? []
      : [found('program', searched, { program_id: searched, summary: `${program.name}, ${program.status}` })]),
    ...(developer === null ? [] : [found('developer', searched, { summary: developer.email })]),
    ...(request === null
      ? []
      : [
          found('request', searched, {
            program_id: request.programId,
            environment: request.environment,
            attempt_id: request.attemptId,
            summary: `${request.method} ${request.path}, ${request.status}`,
          }),
        ]),
  ];
}

function placesOfEmail(email: string, { wallet, database }: Searched, options: Options): readonly Place[] {
  return [
    {
      kinds: ['account'],
      find: async () => {
        const listed = await wallet.listAccounts({ ...ALL, email }, options);
        return isRefused(listed) ? listed : listed.accounts.map(presentFoundAccount);
      },
    },
    {
      kinds: ['developer'],
      find: async () => {
        const developer = await findDeveloper(database, { email });
        return developer === null ? [] : [found('developer', developer.id, { summary: developer.email })];
      },
    },
  ];
}

/** The accounts to which the program has linked the ref: at most one in each environment. */
function placeOfPlayer(
  player: { readonly programId: string; readonly playerRef: string },
  { wallet }: Searched,
  options: Options,
): Place {
  const read = async (environment: Environment) => {
    const tenant = { programId: player.programId, environment };
    const listed = await wallet.listAccounts({ ...ALL, player: { tenant, playerRef: player.playerRef } }, options);
    if (isRefused(listed)) return listed;
    return listed.accounts.map((account) =>
      found('player_ref', player.playerRef, { ...ofTenant(tenant), account_id: account.id, summary: account.email }),
    );
  };
  return {
    kinds: ['player_ref'],
    find: async () => {
      const [live, test] = await Promise.all([read(Environment.LIVE), read(Environment.TEST)]);
      if (isRefused(live)) return live;
      return isRefused(test) ? test : [...live, ...test];
    },
  };
}

const ALL = {
  email: '',
  player: undefined,
  flag: AccountFlag.UNSPECIFIED,
  sandboxOf: '',
  limit: MAX_PAGE_ROWS,
  cursor: '',
};

function presentFoundAccount(account: Account): Found {
  const { id: accountId, programId, email } = account;
  const tenant = programId === undefined ? undefined : { programId, environment: Environment.TEST };
  return found('account', accountId, { ...ofTenant(tenant), account_id: accountId, summary: email });
}

function presentItem(searched: string, item: FoundItem): Found {
  return found(nameOf(ITEM_KINDS, item.kind), searched, {
    ...ofTenant(item.tenant),
    attempt_id: item.attemptId || null,
    account_id: item.accountId || null,
    summary: item.summary,
  });
}

function ofTenant(tenant: Tenant | undefined) {
  if (tenant === undefined) return {};
  return { program_id: tenant.programId, environment: nameOf(ENVIRONMENTS, tenant.environment) };
}

function found(kind: Kind, id: string, rest: Partial<Found> & Pick<Found, 'summary'>): Found {
  return { kind, id, program_id: null, environment: null, attempt_id: null, account_id: null, ...rest };
}
