import { type Refused, refused } from '@laurel/errors';
import { type Database, isUniqueViolation, type Statement } from '@laurel/postgres';

export type Developer = { readonly id: string; readonly email: string };

export type ListedDeveloper = Developer & {
  readonly createdAt: Date;
  /** How many programs the developer has, in any status. */
  readonly programs: number;
};

const INSERT = {
  name: 'insert_developer',
  text: 'insert into developers (id, email, password_hash) values ($1, $2, $3)',
};

/**
 * The e-mail must already be in lower case. An e-mail that another developer uses is a conflict.
 */
export async function insertDeveloper(
  database: Database,
  developer: Developer & { readonly passwordHash: string },
): Promise<Developer | Refused> {
  try {
    await database.query(INSERT, [developer.id, developer.email, developer.passwordHash]);
    return { id: developer.id, email: developer.email };
  } catch (error) {
    if (isUniqueViolation(error, 'developers_email_unique')) {
      return refused('conflict', 'A developer with this e-mail exists already.');
    }
    throw error;
  }
}

const SELECT_CREDENTIALS: Statement = {
  name: 'select_developer_credentials',
  text: 'select id, password_hash as "passwordHash" from developers where email = $1',
};

/**
 * The id and the password hash to check a sign-in against; null if no developer has this e-mail.
 * The e-mail must already be in lower case.
 */
export async function findCredentials(
  database: Database,
  email: string,
): Promise<{ readonly id: string; readonly passwordHash: string } | null> {
  const rows = await database.query<{ id: string; passwordHash: string }>(SELECT_CREDENTIALS, [email]);
  return rows[0] ?? null;
}

// The page is selected first, so that programs are counted only for its developers.
const SELECT_PAGE: Statement = {
  name: 'select_developers',
  text: `
    select d.id, d.email, d.created_at as "createdAt",
      (select count(*)::integer from programs where programs.developer_id = d.id) as programs
    from (
      select id, email, created_at from developers
      where ($1::uuid is null or id < $1) and ($3::text is null or email = $3) and ($4::uuid is null or id = $4)
      order by id desc limit $2
    ) d
    order by d.id desc`,
};

/**
 * Lists developers, newest first, from below a developer's id (ids sort by time); null starts at
 * the newest. With an id or an e-mail, which must be in lower case, lists only the developer with
 * it.
 */
export async function listDevelopers(
  database: Database,
  page: {
    readonly beforeId: string | null;
    readonly limit: number;
    readonly email: string | null;
    readonly id: string | null;
  },
): Promise<ListedDeveloper[]> {
  return database.query<ListedDeveloper>(SELECT_PAGE, [page.beforeId, page.limit, page.email, page.id]);
}

const EXISTS: Statement = {
  name: 'developer_exists',
  text: 'select exists (select from developers where id = $1) as "isThere"',
};

export async function developerExists(database: Database, developerId: string): Promise<boolean> {
  const rows = await database.query<{ isThere: boolean }>(EXISTS, [developerId]);
  return rows[0]?.isThere === true;
}

const SELECT_NAMED: Statement = {
  name: 'select_named_developer',
  text: 'select id, email from developers where id = $1 or email = $2',
};

/** The developer with this id, or with this e-mail in lower case; null if there is none. */
export async function findDeveloper(
  database: Database,
  { id, email }: { readonly id?: string; readonly email?: string },
): Promise<Developer | null> {
  const [found] = await database.query<Developer>(SELECT_NAMED, [id ?? null, email ?? null]);
  return found ?? null;
}

export function noSuchDeveloper(): Refused {
  return refused('not_found', 'There is no such developer.');
}
