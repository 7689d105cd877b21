#!/bin/bash
# SPDX-License-Identifier: MIT
# units_check.sh SERVICE SOCKET PROGRAM - systemd understands all of the units, and the service starts again without a limit.
# Exit status 77: there is no systemd-analyze.
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
# The rules that are installed with it.
grep -qE '^ExecStart=ibtool sweep .*--rules /.*/ibtool/health.toml$' "$1" || { echo "the service has no rules"; exit 1; }
! grep -q @ <(grep ^ExecStart "$1") || { echo "the service has a name that was not replaced"; exit 1; }
