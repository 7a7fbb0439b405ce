#!/bin/sh
# Answers clients outside the container, as the official image's server does; Debian's answers only those beside it.
set -eu
[ "${1#-}" = "$1" ] || set -- redis-server "$@"
[ "$1" != redis-server ] || set -- "$@" --protected-mode no
exec "$@"
