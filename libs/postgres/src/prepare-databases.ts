/**
 * Creates or corrects the databases and roles of every service that the environment names, before
 * the migrations. Safe at any time, also on databases that a superuser owned (roles.ts). Every
 * image contains it at /app/libs/postgres/src/prepare-databases.ts.
 *
 * POSTGRES_ADMIN_URL                  a superuser's, for any database of the server
 * <SERVICE>_DATABASE_URL              names the wanted running role, its password and the database
 * <SERVICE>_MIGRATION_DATABASE_URL    the same for the owner
 * <SERVICE>_ARCHIVE_DATABASE_URL      the same for the role that deletes archived months; optional
 */
import { prepareDatabase, roleOf } from './roles.ts';

const OWNER_VARIABLE = /^([A-Z]+)_MIGRATION_DATABASE_URL$/;

function required(variable: string): string {
  const value = process.env[variable];
  if (value) return value;
  console.error(`${variable}: is required`);
  process.exit(1);
}

const adminUrl = required('POSTGRES_ADMIN_URL');
const services = Object.keys(process.env).flatMap((variable) => OWNER_VARIABLE.exec(variable)?.[1] ?? []);
if (services.length === 0) required('WALLET_MIGRATION_DATABASE_URL');
for (const service of services.sort()) {
  const ownerUrl = required(`${service}_MIGRATION_DATABASE_URL`);
  const runningUrl = required(`${service}_DATABASE_URL`);
  const archiveUrl = process.env[`${service}_ARCHIVE_DATABASE_URL`] || undefined;
  await prepareDatabase(adminUrl, { ownerUrl, runningUrl, ...(archiveUrl !== undefined && { archiveUrl }) });
  const archive = archiveUrl === undefined ? '' : `, archived by ${roleOf(archiveUrl)}`;
  console.log(`${service.toLowerCase()}: owned by ${roleOf(ownerUrl)}, run by ${roleOf(runningUrl)}${archive}`);
}
