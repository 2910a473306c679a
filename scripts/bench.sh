#!/usr/bin/env bash
# Speed, correctness first: the pass and its probes, then exact theta on rows of real models beside NumPy's
# certificate. Everything that is compared is timed in one run. Wants a quiet machine.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/get_models.sh
models=${SOFTSCOPE_MODELS:-$PWD/build/models} text=tests/golden/real/genesis-multiscript.txt
rows=build/bench
mkdir -p "$rows"

echo "== matrix products"
build/release/bench/bench_matmul

echo "== inspect, SmolLM2-135M, T = 1024"
build/release/bench/bench_inspect "$models/smollm2.gguf" $text 1024

echo "== exact theta"
for n in 64 1024 8192; do
    build/release/bench/model_rows "$models/smollm2.gguf" $text $n "$rows/smollm2-$n.npy"
done
for n in 64 512; do
    build/release/bench/model_rows "$models/minilm" $text $n "$rows/minilm-$n.npy"
done
build/release/bench/bench_theta "$rows"/*.npy
echo "== the greedy certificate in NumPy"
build/venv/bin/python bench/numpy_certificate.py "$rows"/*.npy
