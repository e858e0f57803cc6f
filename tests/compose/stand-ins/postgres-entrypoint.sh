#!/bin/bash
# The part of the official image's entrypoint that docker-compose.yml uses: creates the cluster
# once, with the superuser's password, and runs the given command as the user postgres.
set -eu
export PGDATA=/var/lib/postgresql/18/docker
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  chown -R postgres:postgres /var/lib/postgresql
  chmod 700 "$PGDATA"
  password=$(mktemp)
  printf '%s\n' "$POSTGRES_PASSWORD" >"$password"
  chown postgres "$password"
  setpriv --reuid=postgres --regid=postgres --clear-groups \
    initdb --username=postgres --pwfile="$password" --auth=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8 >/dev/null
  rm "$password"
  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
fi
setpriv --reuid=postgres --regid=postgres --clear-groups "$@" -c listen_addresses='*' -c unix_socket_directories=/tmp &
server=$!
# The official image is stopped with SIGINT, a fast shutdown: it ends the sessions of the services.
trap 'kill -INT $server' TERM INT
wait $server || true
wait $server
