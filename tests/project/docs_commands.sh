#!/bin/bash
# SPDX-License-Identifier: MIT
# docs_commands.sh BINARY_DIR [PAGE ...] - runs every command of the console blocks in README.md and docs/ and compares the output
# that a page shows; see docs_commands.py. Commands without --fabric run on a simulated fabric; ibsim blocks find a running server.
set -euo pipefail
export PATH=$1:$PATH
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
cd "$work"
export IBTOOL_FABRIC=sim:fattree2,radix=8,sm=1 IBSIM_SOCKNAME=docs-$$

# A server, and a subnet manager in its subnet, for the blocks that use ibsim. Its console is a pipe that stays open.
coproc ibsim -s /usr/share/doc/ibsim-utils/net-examples/net.2sw2path4hca 2>&1
# An OpenSM that should exit waits for replies of a server that has already exited.
trap 'kill -KILL $manager $COPROC_PID 2>/dev/null || true; rm -rf "$work"' EXIT
manager=
await_prompt() {
    local said=
    until [[ $said == *sim ]]; do
        IFS= read -rd '>' -t 30 -u "${COPROC[0]}" said || { echo "ibsim did not start: $said"; exit 1; }
    done
}
await_prompt
echo '# ready?' >&"${COPROC[1]}" # the first prompt appears before the sockets exist, the answer to a command after
await_prompt

mkfifo manager_says
OSM_TMP_DIR=. OSM_CACHE_DIR=. ibsim-run opensm --qos --log_file stderr >manager_out 2>manager_says &
manager=$!
exec 3<manager_says # stays open to the end: no later code reads this output
grep -qm1 'SUBNET UP' <&3 || { echo "opensm did not configure the subnet"; exit 1; }

"$root/tests/project/docs_commands.py" "$root" "$@"
