#!/bin/bash
# SPDX-License-Identifier: MIT
# packages_check.sh PACKAGES - builds the packages in that directory, and checks them:
# lintian reports nothing, comad-doc contains the reference, and a program compiles with libcomad-dev. The RPM spec builds packages
# from the same build, and rpmlint reports nothing. On a bare Debian 12, the packages can be installed, discover a simulated fabric,
# and can be removed without leaving anything. Exits with 77 and a message if something is missing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
fail() { echo "packages_check: $*" >&2; exit 1; }

# files_in DIRECTORY: prints every file with its mode, owner and target, and the contents of configuration files.
files_in() (
    cd "$1"
    find . \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp \) -prune -o -printf '%p %y %m %u:%g %l\n' | sort
    find ./etc -type f -exec sha256sum {} + | sort
)

# in_bare_debian DIRECTORY: the checks in a bare Debian, called by mmdebstrap.
in_bare_debian() {
    local bare=$1 names
    cp "$packages"/*.deb "$bare/tmp"
    names=$(for deb in "$packages"/*.deb; do dpkg-deb -f "$deb" Package; done)
    files_in "$bare" >"$output/before"

    # This check does not need compilers and headers.
    chroot "$bare" sh -c 'dpkg --ignore-depends=libboost1.81-dev,libfmt-dev,libibverbs-dev -i /tmp/*.deb'
    chroot "$bare" env IBTOOL_FABRIC=sim:fattree2,radix=4,sm=1 ibnetdiscover >"$output/found"
    [[ $(grep -c ^Switch "$output/found") == 6 && $(grep -c ^Ca "$output/found") == 8 ]] || fail "not the fabric: $(cat "$output/found")"
    # Checks the names that infiniband-diags has on this machine.
    local links=0 name page
    for name in $(dpkg -L infiniband-diags | sed -n 's|^/usr/sbin/||p'); do
        [[ $(chroot "$bare" readlink -f "/usr/sbin/$name") == /usr/bin/ibtool ]] || fail "no link $name"
        page=$(zcat "$bare/usr/share/man/man8/$name.8.gz" | sed -n 's/^\.so //p')
        [[ -f $bare/usr/share/man/$page.gz ]] || fail "no man page of $name"
        links=$((links + 1))
    done
    ((links == 30)) || fail "$links links of infiniband-diags' names"

    # Uses the systemd of this machine, which has the units that ours depend on. It warns about settings that it does not understand.
    mkdir "$output/units"
    cp "$bare"/lib/systemd/system/ibtool-sweep.* "$output/units"
    sed -i "s|^ExecStart=|&$bare/usr/bin/|" "$output/units/ibtool-sweep.service"
    systemd-analyze verify --man=no "$output"/units/* >"$output/verified" 2>&1 && [[ ! -s $output/verified ]] ||
        fail "the units: $(cat "$output/verified")"

    chroot "$bare" dpkg --purge $names
    files_in "$bare" >"$output/after"
    diff "$output/before" "$output/after" || fail "left behind"
}

packages=$(realpath -m "$1")
output=$packages/checked
if (($# == 2)); then
    in_bare_debian "$2"
    exit
fi

for program in dh lintian mmdebstrap rpmlint rpmbuild systemd-analyze; do
    command -v $program >/dev/null || { echo "no packages: $program is missing (scripts/packages)"; exit 77; }
done
# nice: other tests wait for programs in real time. -O1: this test checks the contents of the packages, not their speed.
DEB_CXXFLAGS_APPEND=-O1 nice "$root/scripts/package" "$packages"
rm -rf "$output"
mkdir "$output"
tree=$(echo "$packages"/comad-*.*.*[0-9])

lintian --fail-on error,warning,override "$packages"/*.changes

for deb in "$packages"/{ibtool_,libcomad,comad-doc}*.deb; do dpkg-deb -x "$deb" "$output/unpacked"; done
doc=$output/unpacked/usr/share/doc/comad
for file in html/{index,classcomad_1_1coro_1_1MADSchedule}.html reference/library.md.gz all-structures.md.gz schema/subnet-1.json; do
    [[ -f $doc/$file ]] || fail "comad-doc has no $file"
done
! grep -rlF "$packages" "$output/unpacked" || fail "the files above name where they were built"
cmake -S "$root/tests/consumer/project" -B "$output/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$output/unpacked/usr"
cmake --build "$output/consumer"
"$output/consumer/consumer"
linked=$(ldd "$output/consumer/consumer")
[[ $linked == *'libcomad.so.0.2 => '* ]] || fail "the consumer is not linked with the shared library: $linked"

# The build that the spec would make already exists. The remaining check is that the spec lists the installed files.
rpmlint -r "$root/packaging/comad.rpmlintrc" "$root/packaging/comad.spec"
mkdir -p "$output/rpm/SOURCES"
tar -czf "$output/rpm/SOURCES/${tree##*/}.tar.gz" -C "$packages" --exclude built --exclude debian "${tree##*/}"
rpmbuild -bb --quiet --nodeps --define "_topdir $output/rpm" --define "_libdir /usr/lib/$(dpkg-architecture -q DEB_HOST_MULTIARCH)" \
    --define '_unitdir /usr/lib/systemd/system' --define '_udevrulesdir /usr/lib/udev/rules.d' \
    --define 'cmake :' --define 'cmake_build :' --define "__cmake_builddir $tree/built" \
    --define "cmake_install DESTDIR=%{buildroot} cmake --install $tree/built" \
    --define 'systemd_post #' --define 'systemd_preun #' --define 'systemd_postun_with_restart #' "$root/packaging/comad.spec"

needed=$(for deb in "$packages"/{ibtool_,libcomad0}*.deb; do dpkg-deb -f "$deb" Depends; done |
    tr , '\n' | sed 's/^ *//; s/[ (].*//' | grep -v '^libcomad' | sort -u | paste -sd,)
if ! mmdebstrap --quiet --variant=minbase --format=null --include="$needed" \
    --customize-hook="'$here/packages_check.sh' '$packages' \"\$1\"" bookworm; then
    [[ ! -e $output/before ]] || exit 1
    echo "no packages: a bare Debian cannot be had"
    exit 77
fi
