/**
 * Deletes libpq's variables (PGSSLMODE, PGOPTIONS, PGHOST, ...), which `pg` reads in addition to
 * the URL. Laurel's URLs are complete, and a user's shell may set the variables for another server.
 * Options belong in the URL: `?sslmode=verify-full`.
 */
for (const name of Object.keys(process.env)) {
  if (/^PG[A-Z_]+$/.test(name)) delete process.env[name];
}
