#!/bin/sh
# Creates the database cluster if it does not exist, then starts the server. It follows the conventions of the official
# image on which charts rely.
set -eu
[ "${1#-}" = "$1" ] || set -- postgres "$@"
[ "$1" = postgres ] || exec "$@"

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  : "${POSTGRES_PASSWORD:?set POSTGRES_PASSWORD to the password of the new database}"
  user=${POSTGRES_USER:-postgres} database=${POSTGRES_DB:-${POSTGRES_USER:-postgres}}
  printf '%s\n' "$POSTGRES_PASSWORD" |
    initdb -D "$PGDATA" -U "$user" --pwfile=/dev/stdin -E UTF8 --locale=C.UTF-8 --auth-local=trust --auth-host=scram-sha-256
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  if [ "$database" != postgres ]; then
    echo "CREATE DATABASE \"$database\"" | postgres --single -D "$PGDATA" postgres
  fi
fi
chmod 0700 "$PGDATA" # Kubernetes may have opened the folder to the pod's group; the server would then refuse it
exec "$@" -c listen_addresses='*'
