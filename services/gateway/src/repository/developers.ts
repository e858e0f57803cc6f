import { type Refused, refused } from '@laurel/errors';
import { type Database, isUniqueViolation } from '@laurel/postgres';

export type Developer = { readonly id: string; readonly email: string };

const INSERT = {
  name: 'insert_developer',
  text: 'insert into developers (id, email, password_hash) values ($1, $2, $3)',
};

/** The e-mail must be lower case already; one that is taken is a conflict. */
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
