#!/bin/bash
# SPDX-License-Identifier: MIT
# make_initramfs.sh DIRECTORY - writes DIRECTORY/initramfs: busybox, `init`, and the kernel modules that the guest needs, in
# load order. The guest gets everything else from the host's file system.
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
# load MODULE: adds a module after its dependencies. A module without a file is built in.
load() {
    local name=${1//-/_} needed
    [[ ! ${seen[$name]-} && ${file_of[$name]-} ]] || return 0
    seen[$name]=1
    needed=$(tr '\0' '\n' <"${file_of[$name]}" | sed -n 's/^depends=//p')
    for needed in ${needed//,/ }; do load "$needed"; done
    cp "${file_of[$name]}" "$tree/modules/$name.ko"
    echo "$name" >>"$tree/modules/order"
}
# rdma_rxe requests crc32_generic by name at run time. The last three modules drop packets for tests (tc).
for module in virtio_pci 9pnet_virtio 9p overlay veth crc32_generic rdma_rxe ib_umad ib_uverbs sch_ingress cls_matchall act_gact; do
    load "$module"
done
(cd "$tree" && find . | LC_ALL=C sort | busybox cpio -o -H newc 2>/dev/null) >"$made.new"
mv "$made.new" "$made"
