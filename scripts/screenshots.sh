#!/usr/bin/env bash
# Make the pictures of README and docs in docs/images/ from real results: inspect two small models with the program and
# photograph the report pages in Chromium. Safe to repeat.
# Relies on: scripts/setup.sh and get_models.sh, a release build, web/node_modules (the build fetches them), chromium.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/get_models.sh smollm2 minilm
make --no-print-directory release
models=${SOFTSCOPE_MODELS:-build/models}
work=build/screenshots
mkdir -p "$work" docs/images

inspect() { build/release/softscope inspect "$1" --text "$2" --quiet --json "$work/$3.json" "${@:4}"; }
inspect "$models/smollm2.gguf" examples/bakery.txt smollm2 --html "$work/smollm2.html"
inspect "$models/smollm2.gguf" tests/golden/real/lighthouse.txt lighthouse
inspect "$models/minilm" examples/bakery.txt minilm --html "$work/minilm.html"
build/release/softscope report "$work/smollm2.json" "$work/lighthouse.json" -o "$work/two-texts.html"

SOFTSCOPE_PROGRAM=build/release/softscope node scripts/screenshots.mjs "$work" docs/images
