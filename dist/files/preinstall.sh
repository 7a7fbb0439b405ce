#!/bin/sh
# Runs before the files are unpacked, at an installation and at an upgrade.
set -e
if ! getent group slotmesh >/dev/null; then
  groupadd --system slotmesh
fi
if ! getent passwd slotmesh >/dev/null; then
  useradd --system --gid slotmesh --home-dir /var/lib/slotmesh --no-create-home --shell /usr/sbin/nologin \
    --comment Slotmesh slotmesh
fi
