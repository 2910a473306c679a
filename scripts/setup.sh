#!/usr/bin/env bash
# Make this machine ready: `setup.sh build` for what `make demo` needs, `setup.sh` for the tests as well.
# Installs only what is missing, from Debian's packages; says what to do where it may not. Safe to repeat.
set -euo pipefail
cd "$(dirname "$0")/.."

# tier | Debian package | command that makes it unnecessary, or - | what it is for
packages='
build | build-essential    | -            | the C compiler and make
build | cmake              | cmake        | the build, 3.25 or newer
build | ninja-build        | ninja        | runs the build in parallel
build | pkg-config         | pkg-config   | finds the libraries below
build | libdnnl-dev        | -            | oneDNN: matrix multiplication
build | libsleef-dev       | -            | SLEEF: vector exp, log, tanh, erf
build | libjansson-dev     | -            | jansson: JSON
build | libpcre2-dev       | -            | PCRE2: the patterns of tokenizers
build | libutf8proc-dev    | -            | utf8proc: Unicode normal forms
build | libzip-dev         | -            | libzip: NPZ files
build | zlib1g-dev         | -            | zlib: the compressed report page
build | libcmocka-dev      | -            | cmocka: the unit tests, built with everything else
build | python3-venv       | -            | Python: gets the models, runs the command line tests
build | nodejs             | node         | builds the report page
build | npm                | npm          | gets what the report page is built from, by its lock file
test  | clang              | clang        | the fuzz targets
test  | libclang-rt-14-dev | -            | sanitizers and libFuzzer for clang
test  | libomp-dev         | -            | OpenMP for clang
test  | clang-format       | clang-format | the format check
test  | clang-tidy         | clang-tidy   | the static checks
test  | chromium           | chromium     | the browser tests of the report page
test  | locales            | localedef    | a German locale: numbers must not change with it
'
numpy='numpy==2.4.6'

tier=${1:-test}
case $tier in
build | test) ;;
*) echo "usage: scripts/setup.sh [build|test]" >&2 && exit 2 ;;
esac

# One line a package that this machine lacks: "package<TAB>reason".
list_missing() {
    local installed wanted_tier package command reason
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null || true)
    while IFS='|' read -r wanted_tier package command reason; do
        read -r wanted_tier <<<"$wanted_tier"
        read -r package <<<"$package"
        read -r command <<<"$command"
        [ -n "$package" ] || continue
        [ "$wanted_tier" = build ] || [ "$tier" = test ] || continue
        [ "$command" = - ] || ! command -v "$command" >/dev/null || continue
        [[ $'\n'$installed$'\n' != *$'\n'"installed $package"$'\n'* ]] || continue
        printf '%s\t%s\n' "$package" "${reason# }"
    done <<<"$packages"
}

explain_and_leave() {
    {
        echo "setup: $1 These packages are missing:"
        echo "$missing" | awk -F '\t' '{ printf "  %-20s %s\n", $1, $2 }'
        echo "On Debian 12, as root:"
        echo "  apt-get update && apt-get install --no-install-recommends" $names
        echo "On another system, install the same under its own names, then: make release"
    } >&2
    exit 1
}

install_missing() {
    local as_root=()
    command -v apt-get >/dev/null || explain_and_leave "this is not a Debian system."
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || explain_and_leave "installing needs root, and there is no sudo."
        # ask for a password only where somebody can type one
        [ -t 0 ] || sudo -n true 2>/dev/null || explain_and_leave "installing needs root, and sudo asks for a password."
        as_root=(sudo)
    fi
    echo "setup: installing" $names
    local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
    "${apt[@]}" update >/dev/null || echo "setup: apt-get update failed; trying with the lists at hand" >&2
    # shellcheck disable=SC2086 # names is a list of words
    "${apt[@]}" install -y --no-install-recommends $names </dev/null || explain_and_leave "apt-get could not install."
}

# A virtual environment of our own: pip to get the models, NumPy for the reference implementation.
make_venv() {
    local stamp="build/venv/$numpy" python=/usr/bin/python3
    [ ! -e "$stamp" ] || return 0
    [ -x $python ] || python=python3
    echo "setup: making build/venv with $numpy"
    rm -rf build/venv
    mkdir -p build
    if ! $python -m venv build/venv || ! build/venv/bin/pip install -q --disable-pip-version-check "$numpy"; then
        echo "setup: cannot make build/venv with $numpy. Is PyPI reachable (proxy, PIP_INDEX_URL)? Then run this again." >&2
        exit 1
    fi
    : >"$stamp"
}

missing=$(list_missing)
names=$(cut -f 1 <<<"$missing" | paste -sd ' ')
[ -z "$missing" ] || install_missing
make_venv
