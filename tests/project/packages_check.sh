#!/bin/bash
# SPDX-License-Identifier: MIT
# packages_check.sh OUTPUT - builds the packages; lintian has nothing to say of them; a program is compiled with libcomad-dev; on a
# bare Debian 12 they are installed, discover a simulated fabric and are removed, after which all is as it was. The RPM spec
# makes packages of the same build, and rpmlint has nothing to say of it.
# Exit status 77: something is missing, and it says what.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
fail() { echo "packages_check: $*" >&2; exit 1; }

# files_in DIRECTORY: every file with its rights, owners and target; of configuration also what is in it.
files_in() {
    cd "$1"
    find . \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp \) -prune -o -printf '%p %y %m %u:%g %l\n' | sort
    find ./etc -type f -exec sha256sum {} + | sort
}

# in_bare_debian DIRECTORY PACKAGES: what happens there, called by mmdebstrap.
in_bare_debian() {
    local bare=$1 packages=$2 names
    cp "$packages"/*.deb "$bare/tmp"
    names=$(for deb in "$packages"/*.deb; do dpkg-deb -f "$deb" Package; done)
    files_in "$bare" >"$packages/before"

    # Compilers and headers are not what is tried here.
    chroot "$bare" sh -c 'dpkg --ignore-depends=libboost1.81-dev,libfmt-dev,libibverbs-dev -i /tmp/*.deb'
    # By the link, once the program knows that it may be called so.
    local discover='ibtool ibnetdiscover'
    if chroot "$bare" ibtool help install-links >/dev/null 2>&1; then discover=ibnetdiscover; fi
    chroot "$bare" env IBTOOL_FABRIC=sim:fattree2,radix=4,sm=1 $discover >"$packages/found"
    [[ $(grep -c ^Switch "$packages/found") == 6 && $(grep -c ^Ca "$packages/found") == 8 ]] || fail "not the fabric: $(cat "$packages/found")"
    chroot "$bare" sh -c 'for link in $(dpkg -L ibtool-diags | grep ^/usr/sbin/); do [ "$(readlink -f "$link")" = /usr/bin/ibtool ] || exit 1; done'
    chroot "$bare" sh -c 'for page in $(dpkg -L ibtool-diags | grep "^/usr/share/man/man8/"); do
        own=$(zcat "$page" | sed -n "s/^\.so //p"); [ -f "/usr/share/man/$own.gz" ] || exit 1; done'

    # With this machine's systemd, which has what the units rest on; what it does not understand is a warning.
    mkdir "$packages/units"
    cp "$bare"/lib/systemd/system/ibtool-sweep.* "$packages/units"
    sed -i "s|^ExecStart=|&$bare/usr/bin/|" "$packages/units/ibtool-sweep.service"
    systemd-analyze verify --man=no "$packages"/units/* >"$packages/verified" 2>&1 && [[ ! -s $packages/verified ]] ||
        fail "the units: $(cat "$packages/verified")"

    chroot "$bare" dpkg --purge $names
    files_in "$bare" >"$packages/after"
    diff "$packages/before" "$packages/after" || fail "left behind"
}

if [[ $1 == in_bare_debian ]]; then
    "$@"
    exit
fi
output=$1

for program in dh lintian mmdebstrap rpmlint rpmbuild systemd-analyze; do
    command -v $program >/dev/null || { echo "no packages: $program is missing (scripts/packages)"; exit 77; }
done
"$root/scripts/package" "$output"
tree=$(echo "$output"/comad-*.*.*[0-9])

lintian --fail-on error,warning,override --suppress-tags bad-distribution-in-changes-file "$output"/*.changes

for deb in "$output"/{ibtool_,libcomad}*.deb; do dpkg-deb -x "$deb" "$output/unpacked"; done
cmake -S "$root/tests/consumer/project" -B "$output/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$output/unpacked/usr"
cmake --build "$output/consumer"
"$output/consumer/consumer"
ldd "$output/consumer/consumer" | grep -q 'libcomad\.so\.0\.1 => ' || fail "the consumer is not linked with the shared library"

needed=$(for deb in "$output"/{ibtool_,libcomad0}*.deb; do dpkg-deb -f "$deb" Depends; done |
    tr , '\n' | sed 's/^ *//; s/[ (].*//' | grep -v '^libcomad' | sort -u | paste -sd,)
mmdebstrap --quiet --variant=minbase --format=null --include="$needed" \
    --customize-hook="'$here/packages_check.sh' in_bare_debian \"\$1\" '$output'" bookworm

# What the spec would configure and compile is there already; that it lists what is installed is what is left to see.
rpmlint -r "$root/packaging/comad.rpmlintrc" "$root/packaging/comad.spec"
mkdir -p "$output/rpm/SOURCES"
tar -czf "$output/rpm/SOURCES/${tree##*/}.tar.gz" -C "$output" --exclude built --exclude debian "${tree##*/}"
rpmbuild -bb --quiet --nodeps --define "_topdir $output/rpm" --define "_libdir /usr/lib/$(dpkg-architecture -q DEB_HOST_MULTIARCH)" \
    --define '_unitdir /usr/lib/systemd/system' --define '_udevrulesdir /usr/lib/udev/rules.d' \
    --define 'cmake :' --define 'cmake_build :' --define "__cmake_builddir $tree/built" \
    --define "cmake_install DESTDIR=%{buildroot} cmake --install $tree/built" \
    --define 'systemd_post #' --define 'systemd_preun #' --define 'systemd_postun_with_restart #' "$root/packaging/comad.spec"
