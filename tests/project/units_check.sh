#!/bin/bash
# SPDX-License-Identifier: MIT
# units_check.sh SERVICE SOCKET PROGRAM - checks that systemd accepts the units, and that it restarts the service without a limit.
# Exits with 77 if there is no systemd-analyze.
set -euo pipefail
command -v systemd-analyze >/dev/null || { echo "no units: systemd-analyze is missing (scripts/packages)"; exit 77; }
units=$(mktemp -d)
trap 'rm -rf "$units"' EXIT
sed "s|^ExecStart=ibtool|ExecStart=$3|" "$1" >"$units/ibtool-sweep.service"
cp "$2" "$units"
systemd-analyze verify --man=no "$units"/* >"$units/said" 2>&1 && [[ ! -s $units/said ]] || { cat "$units/said"; exit 1; }
for setting in RestartSec=10 StartLimitIntervalSec=0 Restart=on-failure; do
    grep -qx "$setting" "$1" || { echo "the service has no $setting"; exit 1; }
done
# The service must use the installed rules.
grep -qE '^ExecStart=ibtool sweep .*--rules /.*/ibtool/health.toml$' "$1" || { echo "the service has no rules"; exit 1; }
! grep -q @ <(grep ^ExecStart "$1") || { echo "the service has a name that was not replaced"; exit 1; }
