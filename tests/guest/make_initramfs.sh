#!/bin/bash
# SPDX-License-Identifier: MIT
# make_initramfs.sh DIRECTORY - DIRECTORY/initramfs: busybox, `init` and the kernel's modules that the guest needs, in the order
# in which they are loaded; all else the guest has from the host's file system.
set -euo pipefail
directory=$(cd "${1:?usage: make_initramfs.sh DIRECTORY}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
made=$directory/initramfs
[[ ! $made -nt $here/init || ! $made -nt $here/make_initramfs.sh || ! $made -nt $directory/fakeib.ko ]] || exit 0

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{bin,dev,host,modules,proc,sys,run}
cp /bin/busybox "$tree/bin/"
cp "$here/init" "$tree/"
cp "$directory/fakeib.ko" "$tree/modules/"

declare -A file_of seen
while read -r file; do
    name=$(basename "$file" .ko)
    file_of[${name//-/_}]=$file
done < <(find "$directory/modules" -name '*.ko')
# load MODULE: after those that it depends on. What is in no file is built in.
load() {
    local name=${1//-/_} needed
    [[ ! ${seen[$name]-} && ${file_of[$name]-} ]] || return 0
    seen[$name]=1
    needed=$(tr '\0' '\n' <"${file_of[$name]}" | sed -n 's/^depends=//p')
    for needed in ${needed//,/ }; do load "$needed"; done
    cp "${file_of[$name]}" "$tree/modules/$name.ko"
    echo "$name" >>"$tree/modules/order"
}
# crc32_generic is what rdma_rxe asks for by name when it runs; the last three drop packets where a test says so (tc).
for module in virtio_pci 9pnet_virtio 9p overlay veth crc32_generic rdma_rxe ib_umad ib_uverbs sch_ingress cls_matchall act_gact; do
    load "$module"
done
(cd "$tree" && find . | LC_ALL=C sort | busybox cpio -o -H newc 2>/dev/null) >"$made.new"
mv "$made.new" "$made"
