#!/bin/sh
# Runs after an installation and after an upgrade. A first installation starts nothing, because the settings come first.
# An upgrade restarts the service if it runs.
set -e
install -d -o slotmesh -g slotmesh -m 0700 /var/lib/slotmesh /var/lib/slotmesh/backups
chgrp slotmesh /etc/slotmesh /etc/slotmesh/slotmesh.env
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart slotmesh.service
fi
