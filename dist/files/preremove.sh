#!/bin/sh
# Runs before a removal and, in a deb or rpm, before an upgrade. Only a removal stops the service. The data stays.
set -e
case "$1" in
remove | 0)
  if [ -d /run/systemd/system ]; then
    systemctl disable --now slotmesh.service slotmesh-backup.timer
  fi
  ;;
esac
