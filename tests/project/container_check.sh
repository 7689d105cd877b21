#!/bin/bash
# SPDX-License-Identifier: MIT
# container_check.sh PACKAGES OUTPUT - builds images from the recipes in packaging/ and in
# docs/howto/run-programs-on-a-simulated-fabric.md, with the packages in that directory and a bare Debian 12 (with buildah, in OUTPUT).
# Checks what the documentation promises about these images. Exits with 77 and a message if a required program is missing.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
packages=$1 output=$2
fail() { echo "container_check: $*" >&2; exit 1; }
skip() { echo "no images: $*"; exit 77; }

for program in buildah mmdebstrap; do
    command -v $program >/dev/null || skip "$program is missing (scripts/packages)"
done
ls "$packages"/ibtool_*.deb >/dev/null || skip "scripts/package has made no packages"
rm -rf "$output"
mkdir -p "$output"
mmdebstrap --quiet --variant=minbase bookworm "$output/debian.tar" || skip "a bare Debian cannot be had"

images() { buildah --root "$output/images" --runroot "$output/run" --storage-driver vfs "$@"; }
trap '{ images rm --all && images rmi --all --force; } >"$output/removed" 2>&1 || true' EXIT
# made NAME RECIPE
made() { images bud --isolation chroot --pull-never -t "$1" -f "$2" "$packages" >"$output/$1.log" 2>&1 || fail "$(cat "$output/$1.log")"; }
devices=()
[[ ! -c /dev/fuse ]] || devices=(--device /dev/fuse)
# in_image NAME COMMAND...: prints the output of the command in a container of that image
in_image() {
    local container
    container=$(images from --pull-never "${devices[@]}" --cap-add CAP_SYS_ADMIN "$1")
    images run --isolation chroot --cap-add CAP_SYS_ADMIN "$container" -- "${@:2}"
}

debian=$(images from scratch) && images add -q "$debian" "$output/debian.tar" / >/dev/null &&
    images commit -q "$debian" debian:12-slim >/dev/null && in_image debian:12-slim true ||
    skip "buildah may run no container here"
in_image debian:12-slim apt-get -q update >"$output/update.log" 2>&1 || skip "Debian's archive cannot be had in a container"

made ibtool "$root/packaging/Containerfile"
[[ $(images inspect --type image --format '{{.OCIv1.Config.Cmd}}' ibtool) == '[ibtool]' ]] || fail "its command is not ibtool"
says=$(in_image ibtool ibtool) || fail "ibtool alone fails: $says"
[[ $says == *'This machine has no InfiniBand ports'* ]] || fail "ibtool alone says: $says"
for command in 'ibtool ibnetdiscover' ibnetdiscover; do
    found=$(in_image ibtool env IBTOOL_FABRIC=sim:fattree2,radix=4,sm=1 $command)
    [[ $(grep -c ^Switch <<<"$found") == 6 && $(grep -c ^Ca <<<"$found") == 8 ]] || fail "$command prints: $found"
done
left=$(in_image ibtool ls /tmp /var/lib/apt/lists) || fail "the image cannot be looked into"
[[ $left != *deb* ]] || fail "packages are left in the image: $left"

sed -n '/^```dockerfile$/,/^```$/{/^```/!p}' "$root/docs/howto/run-programs-on-a-simulated-fabric.md" >"$output/recipe"
made fat-tree "$output/recipe"
entry=$(images inspect --type image --format '{{range .OCIv1.Config.Entrypoint}}{{.}} {{end}}' fat-tree)
[[ $entry == 'ibtool vumad --fabric '*' -- ' ]] || fail "its entry point is $entry"
if ((${#devices[@]})); then
    links=$(in_image fat-tree $entry iblinkinfo | grep -c '==>')
    # Counts both ends: a fat tree with three levels of 16-port switches has 1,024 hosts, and as many links above each of the two lower
    # levels.
    ((links == 3 * 2 * 1024)) || fail "iblinkinfo tells of $links link ends"
fi
