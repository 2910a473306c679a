#!/usr/bin/env bash
# From nothing to a first result: set up, build, get a small real model, inspect a text of this project.
# Safe to repeat; the second time only the last step takes time.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh build
scripts/get_models.sh smollm2
make --no-print-directory program
model=${SOFTSCOPE_MODELS:-build/models}/smollm2.gguf
echo
echo "\$ build/release/softscope inspect $model --text examples/bakery.txt --json build/demo.json"
build/release/softscope inspect "$model" --text examples/bakery.txt --json build/demo.json
