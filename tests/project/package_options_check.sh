#!/bin/bash
# SPDX-License-Identifier: MIT
# package_options_check.sh OUTPUT - checks that scripts/package passes DEB_BUILD_OPTIONS to dpkg-buildpackage.
# It asks debhelper how many files it would compile at the same time. Exits with 77 and a message if a program is missing.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
output=$(realpath -m "$1")
for program in dh dpkg-parsechangelog; do
    command -v $program >/dev/null || { echo "package_options_check: $program is missing (scripts/packages)"; exit 77; }
done

rm -rf "$output"
mkdir -p "$output/bin"
cat >"$output/bin/dpkg-buildpackage" <<'END'
#!/bin/sh
perl -MDebian::Debhelper::Dh_Lib -e '
    print join(",", get_buildoption("parallel"), map { get_buildoption($_) ? 1 : 0 } qw(nocheck noautodbgsym nostrip))'
END
chmod +x "$output/bin/dpkg-buildpackage"

# expect OPTIONS PARALLEL NOSTRIP
expect() {
    local found expected="$2,1,1,$3"
    found=$(PATH="$output/bin:$PATH" DEB_BUILD_OPTIONS="$1" "$root/scripts/package" "$output/package")
    [[ $found == "$expected" ]] || { echo "DEB_BUILD_OPTIONS='$1': debhelper reads $found, not $expected"; exit 1; }
}
expect '' "$(nproc)" 0
expect 'parallel=1' 1 0
expect 'nostrip parallel=7' 7 1
expect 'nostrip' "$(nproc)" 1
rm -rf "$output"
