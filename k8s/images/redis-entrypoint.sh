#!/bin/sh
# Lets the server answer clients outside the container, as in the official image. Debian's default answers only local ones.
set -eu
[ "${1#-}" = "$1" ] || set -- redis-server "$@"
[ "$1" != redis-server ] || set -- "$@" --protected-mode no
exec "$@"
