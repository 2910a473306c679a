#!/usr/bin/env bash
# Stand-ins for the CUDA libraries that PyTorch's wheel is linked against, so that it loads on a machine that has
# none: one shared object that defines every function asked of them, each of which aborts when called, under
# all their names. A processor-only run calls none of them.
#   bench/peers/absent_cuda.sh VENV
# Relies on: cc, nm, readelf (build-essential). The small CUDA runtime itself comes from its own package.
set -euo pipefail
cd "$1"/lib/python3*/site-packages/torch/lib
libraries='cublas|cublasLt|cudnn|cufft|cufile|curand|cusolver|cusparse|cusparseLt|nccl|nvrtc|nvshmem_host'
functions='cublas|cudnn|cufft|cuFile|curand|cusolver|cusparse|nccl|nvrtc|nvshmem'

source=$(mktemp --suffix .c)
trap 'rm -f "$source"' EXIT
{
    echo 'extern void abort(void);'
    nm -D --undefined-only lib*.so | awk '{ sub(/@.*/, "", $NF); print $NF }' | grep -E "^($functions)" | sort -u |
        sed 's/.*/void &(void) { abort(); }/'
} >"$source"
cc -shared -fPIC -w -fno-builtin -Wl,-soname,libabsent_cuda.so -o libabsent_cuda.so "$source"

readelf -d lib*.so | sed -nE "s/.*NEEDED.*\[(lib($libraries)\.so[^]]*)\].*/\1/p" | sort -u | while read -r name; do
    [ -e "$name" ] || ln -s libabsent_cuda.so "$name"
done
