#!/bin/sh
# Configures the server to answer clients outside the container, as in the official image. Debian's default answers only
# local clients.
set -eu
[ "${1#-}" = "$1" ] || set -- redis-server "$@"
[ "$1" != redis-server ] || set -- "$@" --protected-mode no
exec "$@"
