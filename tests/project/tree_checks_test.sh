#!/bin/bash
# SPDX-License-Identifier: MIT
# tree_checks_test.sh - the checks of the tree must fail on bad trees and pass good ones: unity_names_check.py and
# command_files_check.py, on files that this script writes.
set -euo pipefail
project=$(cd "$(dirname "$0")" && pwd)
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT
cd "$output"
git init -q

# run EXPECTED_STATUS COMMAND...: writes what the command prints to the file `printed`.
run() {
    local status=0
    "${@:2}" >printed 2>&1 || status=$?
    [[ $status == "$1" ]] || { cat printed; echo "'${*:2}' exited with $status instead of $1"; exit 1; }
}
has() { grep -qE -- "$1" printed || { cat printed; echo "not printed: $1"; exit 1; }; }

# Names that are local to a source. Overloads, members and other namespaces do not collide, and commands and texts are compiled
# separately.
mkdir -p tools/commands tools/text include/comad src tests
cat >tools/commands/first.cpp <<'END'
#include "text/format.hpp"
#define LARGEST 7
namespace ibtool {
namespace {
struct outcome { int place; }; // struct in_comment {};
class reading { int length_[3] = {}; };
constexpr int limit = 3;
int sum(int a, int b = limit) { return a < b ? a : b; }
template <class T> std::function<int(T)> adder(const std::vector<T>& all) { return [all](T t) { return sum(t, 1); }; }
bool is_end(std::string_view text);
using std::string;
namespace mad = comad::mad;
namespace iba = comad::iba;
std::string line_of(const local_type& t) { return "namespace { struct text {};"; }
} // namespace
} // namespace ibtool
END
cat >tools/commands/second.cpp <<'END'
#include "text/format.hpp"
namespace ibtool {
namespace {
int sum(int a, double b) { return a; }
bool is_end(int n) { int outcome = n; return outcome == 0; }
namespace iba = comad::iba;
} // namespace
namespace other { namespace { struct outcome {}; } }
int reading::size() const { return length_[length_[0]]; }
} // namespace ibtool
END
printf '#pragma once\nnamespace ibtool {\nstruct text_style {};\nstd::string line_of(const text_style&);\n}\n' >tools/text/format.hpp
printf 'namespace ibtool {\nnamespace {\nstruct outcome {};\n}\n}\n' >tools/text/format.cpp
run 0 "$project/unity_names_check.py" .

# bad TEXT MESSAGE: the text in tools/commands/third.cpp is a collision, and the check prints MESSAGE.
bad() {
    printf '#include "text/format.hpp"\nnamespace ibtool {\nnamespace {\n%s\n}\n}\n' "$1" >tools/commands/third.cpp
    run 1 "$project/unity_names_check.py" .
    has "$2"
    [[ $(wc -l <printed) == 1 ]] || { cat printed; echo "more than: $2"; exit 1; }
    rm tools/commands/third.cpp
}
bad 'struct outcome {};' "^tools/commands/first.cpp:5: 'outcome' is also defined in tools/commands/third.cpp:4, in the same namespace 'ibtool'"
bad 'enum class limit : int { low };' "'limit' is also defined in"
bad 'int sum(int first, int second) { return first; }' "^tools/commands/first.cpp:8: 'sum' is also defined in tools/commands/third.cpp:4,"
bad 'bool is_end(const std::string_view value) { return value.empty(); }' "'is_end' is also"
bad 'template <class T> std::function<int(T)> adder(const std::vector<T>&);' "'adder' is also"
bad 'namespace mad = comad::other;' "'mad' is also"
bad 'const int text_style[] = {1};' "^tools/commands/third.cpp:4: 'text_style' is also defined in tools/text/format.hpp:3"
bad 'int f(int limit) { return limit; }' "^tools/commands/third.cpp:4: 'limit' hides a name of tools/commands/first.cpp:7"
bad 'int f(int a) { const auto limit = a & sum(a, 1); return limit; }' "'limit' hides a name"
bad $'}\n#define LARGEST 8\nnamespace {' "'LARGEST' is also defined"

# A local function hides a function of the namespace, unless the type of an argument belongs to this namespace.
printf 'namespace ibtool {\nint width(int columns);\nnamespace {\nint wide;\n}\n}\n' >>tools/text/format.hpp
bad 'double width(double columns) { return columns; }' "'width' is also defined in tools/text/format.hpp:7"

# All sources of the library are compiled together, and the sources of each test program.
printf 'namespace comad {\nnamespace {\nint one;\n}\n}\n' | tee src/a.cpp tests/a_test.cpp tests/b_test.cpp >src/b.cpp
printf 'comad_test(x_test SOURCES a_test.cpp)\ncomad_test(y_test\n  SOURCES b_test.cpp c_test.cpp)\n' >tests/CMakeLists.txt
run 1 "$project/unity_names_check.py" .
has "^src/a.cpp:3: 'one' is also defined in src/b.cpp:3"
[[ $(wc -l <printed) == 1 ]]
printf 'set_source_files_properties(b.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)\n' >src/CMakeLists.txt
run 0 "$project/unity_names_check.py" .
sed -i 's/c_test/a_test/' tests/CMakeLists.txt
run 1 "$project/unity_names_check.py" .
has "^tests/a_test.cpp:3: 'one' is also"

# The files of commands.
rm -rf ./* .git
mkdir -p tools/commands/checks docs/reference/ibtool tests/tools tests/project
printf '#define IBTOOL_COMMANDS(X)   \\\n    X(first)   \\\n    X(second_one)  \\\n    X(third)\n' >tools/commands.cpp
touch tools/commands/{first,second-one,third}.md docs/reference/ibtool/{first,second-one,third}.md
echo 'command first_command() {}' >tools/commands/checks/first.cpp
echo 'command second_one_command() {} command third_command() {}' >tools/commands/pair.cpp
echo 'run({"first"})' >tests/tools/first_test.cpp
echo 'run({"second-one"}) run({"third"})' >tests/tools/third_test.cpp
printf 'second_one\tpair.cpp\tthird_test.cpp\nthird\tpair.cpp\t-\n' >tests/project/command_files.tsv
run 0 "$project/command_files_check.py" .
# missing FILE MESSAGE: without the file, the check prints MESSAGE.
missing() {
    mv "$1" "$1.hidden"
    run 1 "$project/command_files_check.py" .
    has "$2"
    mv "$1.hidden" "$1"
}
missing tools/commands/checks/first.cpp '^first: tools/commands/ has no first.cpp$'
missing tools/commands/second-one.md '^second_one: tools/commands/ has no second-one.md$'
missing docs/reference/ibtool/third.md '^third: docs/reference/ibtool/ has no third.md; run scripts/reference build/release/ibtool$'
missing tests/tools/first_test.cpp '^first: tests/tools/ has no first_test.cpp$'
missing tests/tools/third_test.cpp '^second_one: tests/tools/ has no third_test.cpp$'
sed -i 's/third/other/' tests/tools/third_test.cpp
touch tests/tools/second_one_test.cpp
echo 'no command' >tools/commands/checks/first.cpp
printf 'fourth\t-\t-\n' >>tests/project/command_files.tsv
run 1 "$project/command_files_check.py" .
has '^third: tests/tools/third_test.cpp does not mention third$'
has '^second_one: .* names third_test.cpp, but second_one_test.cpp exists$'
has '^first: .* does not define first_command'
has "lists 'fourth', which is not a command$"
has 'is not sorted'
