#!/usr/bin/env bash
# Every test and check of the project, set-up included. Each step prints its own output; the last line of all is
# "N passed, M failed": the tests that ran, and one for each check.
# Relies on: scripts/setup.sh, get_models.sh, lint.sh, count_tests.py.
set -uo pipefail
cd "$(dirname "$0")/.."
export SOFTSCOPE_MODELS=${SOFTSCOPE_MODELS:-$PWD/build/models}
passed=0 failed=0 broken=()

# step NAME COMMAND...: run it and count it as one.
step() {
    local name=$1 begin=$SECONDS
    shift
    echo "== $name"
    if "$@" </dev/null; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        broken+=("$name")
        echo "== $name FAILED"
    fi
    echo "   $((SECONDS - begin)) s"
}

# needed NAME COMMAND...: a step that the rest cannot go without.
needed() {
    step "$@"
    [ $failed = 0 ] || finish
}

# tests PRESET: what ctest runs in that build, counted test by test.
tests() {
    local begin=$SECONDS report="$PWD/build/$1-tests.xml" counts
    echo "== tests, $1 build"
    rm -f "$report"
    ctest --preset "$1" --no-tests=error --output-junit "$report" --test-output-size-passed 65536 </dev/null
    counts=$(build/venv/bin/python scripts/count_tests.py "$report") || counts='0 1'
    [ "$counts" != '0 0' ] || counts='0 1' # no test at all is a failure too
    passed=$((passed + ${counts% *})) failed=$((failed + ${counts#* }))
    [ "${counts#* }" = 0 ] || broken+=("tests, $1 build")
    echo "   $((SECONDS - begin)) s"
}

# Each fuzz target for a few seconds from its seeds: enough to find a parser that is broken at once.
fuzz_briefly() {
    local target name seeds
    for target in build/fuzz/tests/fuzz/*_fuzz; do
        [ -x "$target" ] || continue
        name=$(basename "$target" _fuzz)
        seeds="tests/fuzz/seeds/$name"
        echo "fuzz: $name"
        mkdir -p "build/fuzz/corpus/$name"
        "$target" -max_total_time="${FUZZ_SECONDS:-3}" -timeout=10 -rss_limit_mb=1024 -verbosity=0 -print_final_stats=0 \
            -artifact_prefix="build/fuzz/$name-" "build/fuzz/corpus/$name" $([ -d "$seeds" ] && echo "$seeds") || return 1
    done
}

finish() {
    [ ${#broken[@]} = 0 ] || printf 'failed: %s\n' "${broken[@]}"
    echo "took $((SECONDS / 60)) min $((SECONDS % 60)) s"
    echo "$passed passed, $failed failed"
    [ $failed = 0 ]
    exit
}

needed 'set-up' scripts/setup.sh
step 'models' scripts/get_models.sh
needed 'build' make --no-print-directory release
tests release
step 'build with sanitizers' make --no-print-directory debug && tests debug
step 'format' scripts/lint.sh format
step 'static checks' scripts/lint.sh tidy
step 'build of the fuzz targets' make --no-print-directory fuzz && step 'fuzz' fuzz_briefly
finish
