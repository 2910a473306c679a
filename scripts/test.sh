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

# tests PRESET [option of ctest...]: what ctest runs in that build, counted test by test.
tests() {
    local begin=$SECONDS report="$PWD/build/$1-tests.xml" counts
    echo "== tests, $1 build"
    rm -f "$report"
    ctest --preset "$@" --no-tests=error --output-junit "$report" --test-output-size-passed 65536 </dev/null
    counts=$(build/venv/bin/python scripts/count_tests.py "$report") || counts='0 1'
    [ "$counts" != '0 0' ] || counts='0 1' # no test at all is a failure too
    passed=$((passed + ${counts% *})) failed=$((failed + ${counts#* }))
    [ "${counts#* }" = 0 ] || broken+=("tests, $1 build")
    echo "   $((SECONDS - begin)) s"
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
# each test where it says most: parsers are fuzzed with sanitizers, the real models are inspected at full speed
tests release -E '^fuzz_'
step 'build with sanitizers' make --no-print-directory debug && tests debug -E '^golden_real$'
step 'format' scripts/lint.sh format
step 'static checks' scripts/lint.sh tidy
step 'build of the fuzz targets' make --no-print-directory fuzz && tests fuzz
finish
