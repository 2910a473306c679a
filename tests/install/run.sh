#!/usr/bin/env bash
# Installs the build at $1 into an empty folder and uses it as a stranger would: through CMake, through pkg-config,
# from C++; the installed library shows exactly the functions of its header.
set -euo pipefail
build=$(realpath "$1") source=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix example=$source/examples/theta_row.c

cmake --install "$build" --prefix "$prefix" >/dev/null
"$prefix/bin/softscope" --version >/dev/null

cmake -S "$source/tests/install" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DEXAMPLE="$example" >/dev/null
cmake --build "$work/cmake" >/dev/null
expected=$("$work/cmake/with_shared")
[ -n "$expected" ]
[ "$("$work/cmake/with_static")" = "$expected" ]

# the folder may be moved after the installation: nothing inside may name the old place
mv "$prefix" "$work/moved" && prefix=$work/moved
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name softscope.pc)")
export PKG_CONFIG_PATH
library=$(dirname "$PKG_CONFIG_PATH")
# shellcheck disable=SC2046 # flags are words
cc "$example" $(pkg-config --cflags --libs softscope) -Wl,-rpath,"$library" -o "$work/with_pc"
[ "$("$work/with_pc")" = "$expected" ]
# shellcheck disable=SC2046
cc "$example" $(pkg-config --static --cflags --libs softscope | sed 's/-lsoftscope/-l:libsoftscope.a/') \
    -o "$work/with_static_pc"
[ "$("$work/with_static_pc")" = "$expected" ]

printf '#include <softscope.h>\nint main() { return ss_status_exit(SS_OK); }\n' >"$work/plus.cpp"
c++ -std=c++17 -Wall -Wextra -Werror -pedantic "$work/plus.cpp" -I"$prefix/include" -L"$library" -lsoftscope \
    -Wl,-rpath,"$library" -o "$work/plus"
"$work/plus"

shown=$(nm -D --defined-only "$library/libsoftscope.so" | awk '{ print $3 }' | sort)
for name in $shown; do
    grep -qw "$name" "$prefix/include/softscope.h" || { echo "the library shows $name, which its header lacks" >&2; exit 1; }
done
declared=$(grep -v '^typedef' "$prefix/include/softscope.h" | grep -oE '\bss_[a-z0-9_]+\(' | tr -d '(' | sort -u)
for name in $declared; do
    grep -qx "$name" <<<"$shown" || { echo "the header declares $name, which the library does not show" >&2; exit 1; }
done
echo "installed, found by CMake and pkg-config, moved, used from C++; $(wc -l <<<"$shown") functions shown"
