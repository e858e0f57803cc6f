/**
 * `pg` reads libpq's variables (PGSSLMODE, PGOPTIONS, PGHOST, ...) beside the URL that it is given. A URL of ours is whole,
 * and the shell of a user may have them for another server, so this process forgets them before it connects anywhere.
 * What is meant stands in the URL: `?sslmode=verify-full`.
 */
for (const name of Object.keys(process.env)) {
  if (/^PG[A-Z_]+$/.test(name)) delete process.env[name];
}
