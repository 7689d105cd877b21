#!/bin/bash
# SPDX-License-Identifier: MIT
# install_packages_check.sh SCRIPT - runs scripts/install-packages while another package manager holds a lock. It uses apt-get
# with lists in a directory of this test, and a program that fails like apt-get. Exits with 77 if there is no apt-get.
set -euo pipefail
script=$1
command -v apt-get >/dev/null || { echo "skipped: there is no apt-get"; exit 77; }

here=$(mktemp -d)
holder=
trap '[[ ! $holder ]] || kill "$holder" 2>/dev/null || true; rm -rf "$here"' EXIT
mkdir -p "$here"/{scripts,bin,state/lists/partial,cache/archives/partial,repo}
cp "$script" "$here/scripts/install-packages"
printf '[build]\ncomad-no-such-package\n' >"$here/scripts/packages"
as_root=()
((EUID == 0)) || as_root=(unshare --user --map-root-user)

fail() {
    printf '%s: %s\n' "$(basename "$0")" "$1" >&2
    cat "$here/out" "$here/err" >&2
    exit 1
}
# run CODE: runs the script with the programs of this test first in PATH
run() {
    local code=0
    PATH=$here/bin:$PATH "${as_root[@]}" "$here/scripts/install-packages" >"$here/out" 2>"$here/err" || code=$?
    ((code == $1)) || fail "exit code $code, expected $1"
}
has() { grep -qF -- "$2" "$here/$1" || fail "std$1 lacks: $2"; }
lacks() { ! grep -qF -- "$2" "$here/$1" || fail "std$1 has: $2"; }

# ---- apt-get itself: the lock of the package lists -------------------------------------------------------------------

: >"$here/repo/Packages"
: >"$here/status"
echo "deb [trusted=yes] file:$here/repo ./" >"$here/sources.list"
cat >"$here/apt.conf" <<END
Dir::State "$here/state";
Dir::State::status "$here/status";
Dir::Cache "$here/cache";
Dir::Etc::sourcelist "$here/sources.list";
Dir::Etc::sourceparts "/dev/null";
APT::Sandbox::User "root";
END
export APT_CONFIG=$here/apt.conf
mkfifo "$here/held"
python3 -c '
import fcntl, signal, sys
lock = open(sys.argv[1], "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
open(sys.argv[2], "w").write("held")
signal.pause()' "$here/state/lists/lock" "$here/held" &
holder=$!
read -r _ <"$here/held" || true
# The other program exits while the script sleeps.
cat >"$here/bin/sleep" <<END
#!/bin/sh
kill $holder && exec python3 -c 'import fcntl; fcntl.lockf(open("$here/state/lists/lock", "w"), fcntl.LOCK_EX)'
END
chmod +x "$here/bin/sleep"
run 100 # the package does not exist
has out "waiting up to 10 minutes for another package manager: Could not get lock $here/state/lists/lock. It is held by process $holder"
has err "Unable to locate package comad-no-such-package"
lacks err "cannot update"
wait "$holder" || true
holder=

# ---- a program instead of apt-get ------------------------------------------------------------------------------------

cat >"$here/bin/apt-get" <<'END'
#!/bin/bash
# Fails because of a held lock as often as the files busy-update and busy-install have lines.
here=$(dirname "$(dirname "$0")")
printf '%s\n' "$*" >>"$here/calls"
case " $* " in
    *' -s '*) exit ;;
    *' update '*) busy=$here/busy-update lock=/var/lib/apt/lists/lock ;;
    *) busy=$here/busy-install lock=/var/cache/apt/archives/lock ;;
esac
if [[ -s $busy ]]; then
    sed -i 1d "$busy"
    echo "E: Could not get lock $lock. It is held by process 7 (unattended-upgr)" >&2
    exit 100
fi
if [[ -e $here/broken ]]; then
    echo 'E: broken' >&2
    exit 100
fi
END
printf '#!/bin/sh\necho slept >>"%s"\n' "$here/slept" >"$here/bin/sleep"
chmod +x "$here/bin/apt-get" "$here/bin/sleep"

printf '1\n2\n' >"$here/busy-update"
printf '1\n2\n3\n' >"$here/busy-install"
run 0
(($(wc -l <"$here/slept") == 5)) || fail "it slept $(wc -l <"$here/slept") times, expected 5"
(($(grep -c '^waiting up to 10 minutes' "$here/out") == 2)) || fail "it must print one line for each lock that it waits for"
has out "/var/lib/apt/lists/lock. It is held by process 7 (unattended-upgr)"
has out "/var/cache/apt/archives/lock"
lacks err "E: "
grep -q 'DPkg::Lock::Timeout=600 .*install' "$here/calls" || fail "apt-get must wait for dpkg's lock"

seq 200 >"$here/busy-update" # more often than the script retries
run 1
has err "scripts/install-packages: another package manager is still running: Could not get lock /var/lib/apt/lists/lock"

: >"$here/busy-update"
touch "$here/broken" # the script does not retry after another failure
rm "$here/slept"
run 100
has err "E: broken"
has err "cannot update some package lists"
[[ ! -e $here/slept ]] || fail "it waited without a lock"
