import type { Service, Stack } from '@laurel/testing';

/**
 * Runs `work`, then restores these services' databases to their state before it, like a failover to
 * an asynchronous standby or a restore. The services are stopped meanwhile, and ready when this
 * resolves; the others keep their memory.
 */
export async function losingWritesOf<Result>(
  stack: Stack,
  services: readonly Service[],
  work: () => Promise<Result>,
): Promise<Result> {
  const restores = await Promise.all(services.map((service) => keepMoment(stack, service)));
  const result = await work();
  const replicas = services.flatMap((service) =>
    stack.adminUrls(service).map((_url, index) => [service, index] as const),
  );
  await Promise.all(replicas.map(([service, index]) => stack.stop(service, index)));
  await Promise.all(restores.map((restore) => restore()));
  await Promise.all(replicas.map(([service, index]) => stack.restart(service, index)));
  return result;
}

/** Copies every table of a service's database; the returned function restores the rows. */
async function keepMoment(stack: Stack, service: Service): Promise<() => Promise<void>> {
  const database = stack.database(service);
  // Generated columns follow from the other columns, and the rows of a partition are rows of its
  // table.
  const tables = await database.query<{ name: string; columns: string }>(`
    select quote_ident(table_name) as name, string_agg(quote_ident(column_name), ', ') as columns
    from information_schema.columns join pg_tables on schemaname = table_schema and tablename = table_name
    where table_schema = 'public' and is_generated = 'NEVER'
      and not exists (select from pg_inherits where inhrelid = format('%I.%I', table_schema, table_name)::regclass)
    group by table_name`);
  const inOneTransaction = async (...statements: readonly string[]) => {
    await database.query(['begin', ...statements, 'commit'].join(';'));
  };
  await inOneTransaction(
    'drop schema if exists moment cascade',
    'create schema moment',
    ...tables.map(({ name }) => `create table moment.${name} as table public.${name}`),
  );
  return () =>
    inOneTransaction(
      // Also replaces rows that triggers protect from changes and deletes.
      'set local session_replication_role = replica',
      `truncate ${tables.map(({ name }) => `public.${name}`).join(', ')}`,
      ...tables.map(
        ({ name, columns }) =>
          `insert into public.${name} (${columns}) overriding system value select ${columns} from moment.${name}`,
      ),
      'drop schema moment cascade',
    );
}
