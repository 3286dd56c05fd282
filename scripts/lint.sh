#!/usr/bin/env bash
# Style that a script can hold: layers call downward, no file outgrows a reader, nothing private is named.
set -u
cd "$(dirname "$0")/.."
bad=0
complain() { echo "lint: $1"; echo "$2" | sed 's/^/    /'; bad=1; }
files() { git ls-files -co --exclude-standard -- "$@"; }

# Layers (ptx <- translator <- runtime <- cli, conformance); conformance and the front end never see ptx/lib.
hits=$(files 'ptx/*.[ch]' | xargs -r grep -nE '#include *[<"](llvm-c|translator/|runtime/|cli/|conformance/)'); [ -n "$hits" ] && complain "ptx/ includes something above it" "$hits"
hits=$(files 'ptx/*.[ch]' | grep -v '^ptx/lib/' | xargs -r grep -nE '#include *"ptx/lib/' ); [ -n "$hits" ] && complain "the front end includes ptx/lib" "$hits"
hits=$(files 'translator/*.[ch]' | xargs -r grep -nE '#include *"(runtime/|cli/|conformance/)'); [ -n "$hits" ] && complain "translator/ includes something above it" "$hits"
hits=$(files 'runtime/cpu/*.[ch]' | xargs -r grep -nE '#include *([<"]llvm-c|"translator/)'); [ -n "$hits" ] && complain "the CPU engine includes LLVM" "$hits"
hits=$(files 'runtime/*.[ch]' | xargs -r grep -nE '#include *"(cli/|conformance/)'); [ -n "$hits" ] && complain "runtime/ includes something above it" "$hits"
hits=$(files 'conformance/*.[ch]' | xargs -r grep -nE '#include *([<"]llvm-c|"ptx/lib/)'); [ -n "$hits" ] && complain "a reference includes what it has to judge" "$hits"

# Size: 1,000 lines a file, tables and generated corpus apart.
hits=$(files '*.c' '*.h' '*.cc' '*.cpp' '*.sh' '*.py' | grep -v '^ptx_corpus/' | xargs -r wc -l | awk '$2 != "total" && $1 > 1000 {print $2 ": " $1 " lines"}'); [ -n "$hits" ] && complain "file of more than 1,000 lines" "$hits"

# Tabs and trailing blanks.
hits=$(files '*.c' '*.h' '*.cc' '*.cmake' 'CMakeLists.txt' | grep -v '^ptx_corpus/.*\.ptx' | xargs -r grep -nP '\t|[ \t]+$' | head -20); [ -n "$hits" ] && complain "tab or trailing blank" "$hits"
[ "$bad" = 0 ] && echo "lint: ok"
exit $bad
