#!/bin/bash
# SPDX-License-Identifier: MIT
# release_check.sh - scripts/release on a small tree: it accepts a consistent one, names the mistake in each other, and creates the tag.
# Usage: release_check.sh RELEASE OUTPUT
set -euo pipefail
release=$1 output=$2
rm -rf "$output"
mkdir -p "$output"
cd "$output"
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test

mkdir -p good/{scripts,docs,packaging/debian,tests/data/abi}
cd good
cp "$release" scripts/release
printf '#!/bin/sh\necho "compared the ABI"\n' >scripts/abi
chmod +x scripts/abi
echo 'project(comad VERSION 1.2.3 LANGUAGES CXX)' >CMakeLists.txt
printf 'comad (1.2.3) unstable; urgency=medium\n' >packaging/debian/changelog
printf 'Source: comad\n\nPackage: libcomad1.2\n' >packaging/debian/control
printf 'usr/lib/*/libcomad.so.*\n' >packaging/debian/libcomad1.2.install
printf 'Version:        1.2.3\n\n%%changelog\n* Wed Nov 25 2026 comad contributors <comad@example.org> - 1.2.3-1\n' >packaging/comad.spec
echo 'The current version, 1.2.3, is in `libcomad1.2`, and the library is `libcomad.so.1.2`.' >README.md
echo 'The newest version 1.2.3 gets fixes.' >SECURITY.md
echo 'Install libcomad1.2.' >docs/install.md
touch tests/data/abi/libcomad.so.1.2.abi.xz
cat >CHANGELOG.md <<'END'
# Changelog

## [1.2.3] - 2026-12-01

### Added

- **Tool.** `ibtool` [reads](docs/install.md) LIDs.

## [1.2.2] - 2026-11-01

- Something older.
END
git init -q -b main
git add .
git commit -qm 'the tree'
cd ..

# run EXPECTED_STATUS WORDS...: runs scripts/release in the current directory; `printed` gets its output.
run() {
    local status=0
    scripts/release "${@:2}" >../printed 2>&1 || status=$?
    [[ $status == "$1" ]] || { cat ../printed; echo "release exited with $status instead of $1"; exit 1; }
}
has() { grep -qE -- "$1" ../printed || { cat ../printed; echo "not printed: $1"; exit 1; }; }

# bad FILE SED_SCRIPT MESSAGE: with the mistake, scripts/release fails and prints only the message.
bad() {
    rm -rf bad
    cp -a good bad
    cd bad
    sed -i "$2" "$1"
    run 1
    has "$3"
    [[ $(wc -l <../printed) == 1 ]] || { cat ../printed; echo "more than: $3"; exit 1; }
    cd ..
}
bad CHANGELOG.md 's/1\.2\.3/1.2.4/' "the first section is '## \[1.2.4\] - 2026-12-01'"
bad CHANGELOG.md 's/2026-12-01/2026-13-01/' "'2026-13-01' is not a date"
bad CHANGELOG.md '/^### Added/,/^- /d' 'the section of 1.2.3 is empty'
bad packaging/debian/changelog '1i comad (1.2.4) unstable; urgency=medium' '1.2.3 is not the first entry'
bad packaging/comad.spec 's/^Version.*/Version: 1.2.2/' 'expected Version: 1.2.3'
bad packaging/comad.spec 's/1.2.3-1$/1.2.2-1/' 'in %changelog'
bad README.md 's/1\.2\.3/1.2.2/' 'README.md: expected the current version, 1.2.3'
bad README.md 's/so\.1\.2/so.1.1/' 'README.md:1: libcomad.so.1.1 instead of libcomad.so.1.2'
bad SECURITY.md 's/1\.2\.3/1.2.2/' 'SECURITY.md: expected version 1.2.3'
bad docs/install.md 's/1\.2/1.1/' 'docs/install.md:1: libcomad1.1 instead of libcomad1.2'
bad CMakeLists.txt 's/1\.2\.3/1.2/' 'no version MAJOR.MINOR.PATCH'

cd good
mv tests/data/abi/libcomad.so.1.{2,1}.abi.xz
run 1
has '^scripts/release: tests/data/abi/libcomad.so.1.2.abi.xz does not exist; record'
has '^scripts/release: tests/data/abi/libcomad.so.1.1.abi.xz is not the ABI of 1.2; remove it$'
mv tests/data/abi/libcomad.so.1.{1,2}.abi.xz

# The dry run prints the text of the tag, and a release may have no date yet.
run 0
[[ "$(cat ../printed)" == $'comad 1.2.3\n\nAdded:\n\n- Tool. `ibtool` reads LIDs.' ]] || { cat ../printed; exit 1; }
[[ -z $(git tag) ]]
sed -i 's/2026-12-01/unreleased/' CHANGELOG.md
run 0
run 1 --tag
has "replace 'unreleased' with the date"
has 'some files differ from the last commit'
git checkout -q CHANGELOG.md

git checkout -q -b other
run 1 --tag
has 'the current branch is not main'
git checkout -q main
run 0 --tag
has '^compared the ABI$'
has '^created the tag v1.2.3; '
[[ "$(git tag -l --format='%(contents)' v1.2.3)" == "$(sed '/^compared the ABI/,$d' ../printed)" ]]
run 0 # the commit of the tag
run 1 --tag
has 'the tag v1.2.3 exists'
git commit -q --allow-empty -m later
run 1
has 'the tag v1.2.3 exists'
git rm -q packaging/debian/libcomad1.2.install
run 1
has 'packaging/debian/libcomad1.2.install does not exist'
run 2 --publish
