#!/usr/bin/env bash
# The style and static checks: `lint.sh format` (clang-format), `lint.sh tidy` (clang-tidy), both when none is named.
# Relies on: build/release/compile_commands.json for tidy (make release). The check list: .clang-tidy.
set -euo pipefail
cd "$(dirname "$0")/.."

all_files() {
    git ls-files -z --cached --others --exclude-standard "$@" | sort -zu
}

check_format() {
    if ! all_files '*.c' '*.h' | xargs -0 "${CLANG_FORMAT:-clang-format}" --dry-run --Werror; then
        echo "lint: make format rewrites these files" >&2
        return 1
    fi
}

# Only the library and the program: the tests allocate, compare and cast on purpose. One file a run: the analyzer
# carries what it knows of a va_list from one file into the next.
check_tidy() {
    local database=build/release/compile_commands.json
    [ -f $database ] || { echo "lint: no $database: make release first" >&2; return 1; }
    all_files 'src/*.c' 'cli/*.c' |
        xargs -0 -n 1 -P "$(nproc)" "${CLANG_TIDY:-clang-tidy}" -p build/release --quiet 2> >(grep -v 'warnings\? \(and [0-9]* errors\? \)\?generated' >&2)
}

case ${1:-both} in
format) check_format ;;
tidy) check_tidy ;;
both) check_format && check_tidy ;;
*) echo "usage: scripts/lint.sh [format|tidy]" >&2 && exit 2 ;;
esac
