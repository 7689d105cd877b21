#!/bin/bash
# SPDX-License-Identifier: MIT
# fetch_kernel.sh DIRECTORY - unpacks Debian's stock kernel and its headers without installing them. The directory gets
# `release` (the name of the kernel), `vmlinux`, `modules/` and `headers/`. Does nothing if the current version of this script already
# fetched them.
# Needs no root: apt-get download, dpkg-deb, python3, xz (zstd for kernels since 6.12).
set -euo pipefail
directory=${1:?usage: fetch_kernel.sh DIRECTORY}
[[ ! $directory/release -nt $0 ]] || exit 0
rm -rf "$directory/packages"
mkdir -p "$directory/packages"
cd "$directory"

# depends PACKAGE REGEX: prints the dependencies that match.
depends() { apt-cache depends "$1" | sed -nE "s/^ *Depends: ($2)\$/\\1/p"; }

# Old versions leave the archive, so the script looks up the current one. The `cloud` flavor has no rdma_rxe.
image=$(depends linux-image-amd64 'linux-image-[0-9].*')
release=${image#linux-image-}
[[ $release ]] || { echo "fetch_kernel.sh: apt knows no linux-image-amd64" >&2; exit 1; }
headers=linux-headers-$release
mapfile -t more < <(depends "$headers" 'linux-(headers|kbuild)-.*')
(cd packages && apt-get -q -o APT::Sandbox::User=root download "$image" "$headers" "${more[@]}" >&2)

rm -rf unpacked headers modules
mkdir unpacked headers
wanted=()
for part in drivers/infiniband drivers/net/veth.ko drivers/virtio net/9p net/ipv4 net/ipv6 crypto lib fs/9p fs/netfs fs/fscache \
            fs/overlayfs net/sched; do
    wanted+=("./*lib/modules/*/kernel/$part*")
done
# A pattern without a match is a driver that is built in, or that this version does not have.
dpkg-deb --fsys-tarfile packages/"$image"_*.deb | tar -xf - -C unpacked --wildcards './boot/vmlinuz-*' "${wanted[@]}" 2>/dev/null || true
modules=$(find unpacked -path '*/lib/modules/*/kernel' -prune)
[[ $modules && $(find "$modules" -name 'rdma_rxe.ko*') ]] || { echo "fetch_kernel.sh: $image has no rdma_rxe" >&2; exit 1; }
mv "$modules" modules
find modules -name '*.ko.xz' -exec xz -d {} +
for package in packages/linux-headers-* packages/linux-kbuild-*; do dpkg-deb -x "$package" headers; done
sed -i "s#include /usr/src/#include $PWD/headers/usr/src/#" "headers/usr/src/$headers/Makefile"

# The ELF image inside the compressed one boots without unpacking, which would take the guest 3 s.
python3 - unpacked/boot/vmlinuz-* vmlinux <<'PY'
import lzma, struct, subprocess, sys

image = open(sys.argv[1], "rb").read()
offset, length = struct.unpack_from("<II", image, 0x248)  # payload_offset, payload_length (Documentation/x86/boot.rst)
begin = (image[0x1F1] + 1) * 512 + offset
payload = image[begin:begin + length]
if payload.startswith(b"\xfd7zXZ\0"):
    kernel = lzma.LZMADecompressor().decompress(payload)
else:  # zstd, followed by the length
    kernel = subprocess.run(["zstd", "-dc"], input=payload[:-4], stdout=subprocess.PIPE, check=True).stdout
if not kernel.startswith(b"\x7fELF"): sys.exit("the kernel's payload is no ELF image")
open(sys.argv[2], "wb").write(kernel)
PY
rm -rf unpacked packages
echo "$release" >release
