#!/usr/bin/env bash
# The same work by PyTorch and transformers, in an environment of its own under build/peers: numbers first, then
# times, in one run. Also what tests/golden/models/make_models.py runs in. Safe to repeat.
#   scripts/peers.sh [--setup | TOKENS [ROUNDS]]      --setup makes the environment and stops
# Relies on: a C compiler and binutils, scripts/get_models.sh, bench/peers/.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=build/peers/venv
# PyTorch alone: its wheel asks for 4 GB of CUDA libraries, which a processor never calls (absent_cuda.sh).
torch='torch==2.15.0'
cuda='nvidia-cuda-runtime==13.2.* nvidia-cuda-cupti==13.2.*'
rest='transformers==5.24.0 safetensors==0.8.0 numpy==2.4.6 filelock fsspec jinja2 networkx setuptools sympy typing-extensions'

pip_install() {
    "$venv/bin/pip" install -q --disable-pip-version-check "$@"
}

torch_works() {
    (cd build/peers && OMP_NUM_THREADS=1 venv/bin/python -c 'import torch; torch.ones(2, 2) @ torch.ones(2, 2)' 2>"$1")
}

# shellcheck disable=SC2086 # lists of words
make_environment() {
    local stamp="$venv/$torch"
    [ ! -e "$stamp" ] || return 0
    echo "peers: making $venv with PyTorch and transformers (1.7 GB)"
    rm -rf "$venv"
    mkdir -p build/peers
    python3 -m venv "$venv"
    pip_install $rest
    pip_install --no-deps $torch $cuda 2>/dev/null || pip_install --no-deps $torch
    torch_works /dev/null || bench/peers/absent_cuda.sh "$venv"
    if ! torch_works torch.log; then
        echo "peers: PyTorch does not load without its CUDA libraries; getting them all (5 GB)"
        find "$venv" -name libabsent_cuda.so -printf '%h\n' | while read -r folder; do
            find "$folder" -lname libabsent_cuda.so -delete
        done
        pip_install $torch
        torch_works torch.log || { cat build/peers/torch.log >&2; exit 1; }
    fi
    : >"$stamp"
}

make_environment
[ "${1:-}" != --setup ] || exit 0
[ -d build/venv ] || scripts/setup.sh build
scripts/get_models.sh smollm2
make --no-print-directory release
exec "$venv/bin/python" bench/peers/compare.py build/release/softscope "${SOFTSCOPE_MODELS:-build/models}/smollm2.gguf" "$@"
