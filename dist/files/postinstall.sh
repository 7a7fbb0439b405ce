#!/bin/sh
# Runs after an installation and after an upgrade. A first installation starts nothing, because the settings come first.
# An upgrade restarts the service if it runs. A service that does not start leaves the package installed.
set -e
# Slotmesh owns this folder, so root changes nothing in it: a link there could lead to any file.
install -d -o slotmesh -g slotmesh -m 0700 /var/lib/slotmesh
for path in /etc/slotmesh /etc/slotmesh/slotmesh.env; do
  [ ! -e "$path" ] || chgrp slotmesh "$path"
done
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart slotmesh.service || echo "Slotmesh did not start: journalctl -u slotmesh" >&2
fi
