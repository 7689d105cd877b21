#!/bin/bash
# SPDX-License-Identifier: MIT
# docs_tables.sh IBTOOL - the tables of commands in docs/ibtool.md are those that the tool makes. To bring them up to date:
#   docs_tables.sh --write IBTOOL
set -euo pipefail
write=false
[[ $1 == --write ]] && { write=true; shift; }
ibtool=$(realpath "$1")
cd "$(dirname "$0")/../.."
page=docs/ibtool.md
tables=$("$ibtool" help --markdown)
made=$(sed -n '1,/^<!-- made by: ibtool help --markdown -->$/p' $page; echo "$tables"; sed -n '/^<!-- end -->$/,$p' $page)
if $write; then echo "$made" >$page; fi
diff -u $page - <<<"$made"
