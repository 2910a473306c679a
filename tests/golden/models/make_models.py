"""Make the tiny random models of tests/golden/models and their golden.json. Never run by the tests.

Needs NumPy, PyTorch, transformers 5 and safetensors (`make peers` makes such an environment):

    build/peers/venv/bin/python tests/golden/models/make_models.py

The goldens come from the transformers library in float64, so that nothing is shared with our own code: a model
is written to disk, read back by `from_pretrained` and run (library.py); its measures are computed in another way
than the reference does (measures_dense.py). The same seeds give the same files."""

import json
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import transformers

import library
import measures_dense as measures
from cases import CASES, ffn_width, parts_of
from random_weights import random_ids, random_state
from write_models import extra_tensors, read_copy, write_copy, write_folder

HERE = Path(__file__).resolve().parent


def model_facts(case):
    c = case.config
    width, heads, kv_heads, head_width = parts_of(case)
    gpt = case.architecture == "gpt2"
    return {"architecture": case.architecture, "layers": c["n_layer"] if gpt else c["num_hidden_layers"],
            "heads": heads, "kv_heads": kv_heads, "width": width, "head_width": head_width, "ffn_width": ffn_width(c),
            "vocabulary": c["vocab_size"],
            "context": c["n_positions"] if gpt else c["max_position_embeddings"], "causal": case.architecture != "bert"}


def golden(case, folder, ids, factors=None):
    caught, embedding, states, final, logits = library.run(case.architecture, folder, ids, factors)
    causal = case.architecture != "bert"
    counted = (len(ids) - 1) if causal else len(ids) * (len(ids) > 1)
    document = {"model": model_facts(case), "ids": ids.tolist(), "rows": counted, "single_key_rows": len(ids) - counted,
                "embedding": measures.hidden_measures(embedding), "layers": []}
    for (q, k, v, weights), hidden in zip(caught, states):
        group = len(q) // len(k)
        heads = [measures.head_measures(q[h], k[h // group], v[h // group], weights[h], ids, causal)
                 for h in range(len(q))]
        names = {name: None for head in heads for name in head}
        columns = {name: [head.get(name) for head in heads] for name in names}
        document["layers"].append({**columns, "hidden": measures.hidden_measures(hidden)})
    if final is not None:
        document["final"] = measures.hidden_measures(final)
    if logits is not None:
        document["output"] = measures.output_measures(logits, ids)
    return document


def rounded(item):
    """10 significant digits: more than the check needs, and fewer bytes."""
    if isinstance(item, dict):
        return {key: rounded(value) for key, value in item.items()}
    if isinstance(item, list):
        return [rounded(value) for value in item]
    return float(f"{item:.10g}") if isinstance(item, float) else int(item) if isinstance(item, np.integer) else item


def make_folder(case, folder, state, ids, rng):
    write_folder(case, folder, state, extra_tensors(case, state, rng))
    return golden(case, folder, ids)


def make_copy(case, folder, state, ids):
    """The golden of a copy is that of the weights which the file really holds, given to the library in float64."""
    factors = library.rotary_factors(case.config)
    write_copy(case, folder, state, factors)
    with tempfile.TemporaryDirectory() as scratch:
        write_folder(replace(case, matrices="F64", vectors="F64"), Path(scratch), read_copy(case, folder, state), {})
        return golden(case, scratch, ids, factors)


def make(case, folder, seed):
    rng = np.random.default_rng([seed, *case.name.encode()])
    ids = random_ids(case.tokens, case.config["vocab_size"], rng)
    (folder / "ids.txt").write_text(" ".join(map(str, ids)) + "\n")
    state = random_state(case, library.shapes(case), ids[0], rng)
    return make_copy(case, folder, state, ids) if case.gguf else make_folder(case, folder, state, ids, rng)


def make_clear(case, folder):
    """(document, seed) of the first seed whose counts and keys do not hang on the last bits."""
    for seed in range(100):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            return make(case, folder, seed), seed
        except measures.Unclear as reason:
            print(f"{case.name}: seed {seed}: {reason}"[:100].replace("\n", " "))
    raise SystemExit(f"{case.name}: no seed will do")


def main():
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    for case in CASES:
        folder = HERE / case.name
        document, seed = make_clear(case, folder)
        (folder / "golden.json").write_text(json.dumps(rounded(document)) + "\n")
        size = sum(path.stat().st_size for path in folder.iterdir())
        layer = document["layers"][-1]
        print(f"{case.name}: seed {seed}, {size} bytes, entropy_norm {np.round(layer.get('entropy_norm', []), 2)}, "
              f"first_key {np.round(layer.get('first_key', []), 2)}, max_logit {np.round(layer['max_logit'], 1)}")


if __name__ == "__main__":
    main()
