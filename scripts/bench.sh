#!/usr/bin/env bash
# Every benchmark of bench/, one after another. Each checks its results before it times anything.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/get_models.sh
export SOFTSCOPE_MODELS=${SOFTSCOPE_MODELS:-$PWD/build/models}
for source in bench/*.c; do
    [ -e "$source" ] || { echo "bench: no benchmark yet" && exit 0; }
    name=$(basename "$source" .c)
    echo "== $name"
    "build/release/bench/$name"
done
