"""The plain float64 reference of `softscope inspect`, in NumPy.

    reference.py --check                   recompute every fixture and compare with its golden.json to 1e-9
    reference.py MODEL --tokens IDS        print the golden document of a model
    reference.py MODEL --tokens IDS --inspect   print it in the shape of docs/result.md

Relies on: containers, models, forward, measures beside it."""

import argparse
import json
import sys
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy; scripts/setup.sh makes a Python that has it")
    sys.exit(77)

import forward
import measures
import models

FIXTURES = Path(__file__).resolve().parent.parent / "models"
AGREEMENT = 1e-9
SINK_THRESHOLD = 0.3


def columns(heads):
    """A list of dicts as a dict of lists; a measure that some head lacks is null there."""
    names = {name: None for head in heads for name in head}
    return {name: [head.get(name) for head in heads] for name in names}


def golden(model, ids):
    """Everything inspect is held against, for one model and text."""
    trace = forward.forward(model, ids)
    counted = int((trace.attention[0].supports >= 2).sum())
    document = {"model": model.facts, "ids": list(map(int, ids)), "rows": counted,
                "single_key_rows": len(ids) - counted, "embedding": measures.hidden_measures(trace.embedding),
                "layers": []}
    for attention, hidden in zip(trace.attention, trace.hidden):
        heads = [measures.head_measures(attention, head, ids, model.causal) for head in range(model.heads)]
        document["layers"].append({**columns(heads), "hidden": measures.hidden_measures(hidden)})
    if trace.final is not None:
        document["final"] = measures.hidden_measures(trace.final)
    if trace.logits is not None:
        document["output"] = measures.output_measures(trace.logits, ids)
    return document


# ---- the same numbers where inspect puts them -----------------------------------------------------------------

# golden name: where a head of the result document holds it
HEAD_PLACES = {
    "entropy": ("entropy", "mean"), "entropy_norm": ("entropy_norm", "mean"), "p_max": ("p_max", "mean"),
    "theta_cert_median": ("theta_cert", "median"), "theta_median": ("theta", "median"), "theta_min": ("theta", "min"),
    "jac_2": ("jac_2", "mean"), "jac_inf": ("jac_inf", "mean"), "jac_frob": ("jac_frob", "mean"),
    **{name: (name,) for name in ("max_logit", "first_key", "sink_key", "sink_weight", "sink_value_share", "sparsity",
                                  "prev_token", "same_token", "induction", "dominance", "saturated", "scale_driven",
                                  "genuine")}}


def as_inspect(document):
    """A golden document as `softscope inspect` would print it (only what the golden knows)."""
    result = {"schema": 1, "command": "inspect", "model": document["model"],
              "input": {"tokens": len(document["ids"]), "ids": document["ids"]},
              "embedding": document["embedding"], "layers": []}
    for index, layer in enumerate(document["layers"]):
        heads = []
        for number in range(document["model"]["heads"]):
            head = {"index": number, "rows": document["rows"], "single_key_rows": document["single_key_rows"],
                    "theta_exact_share": 1.0 if document["rows"] else None}
            for name, place in HEAD_PLACES.items():
                if name in layer:
                    holder = head
                    for key in place[:-1]:
                        holder = holder.setdefault(key, {})
                    holder[place[-1]] = layer[name][number]
            head["sink_rate"] = None if head.get("first_key") is None else int(head["first_key"] > SINK_THRESHOLD)
            heads.append(head)
        result["layers"].append({"index": index, "heads": heads, "hidden": layer["hidden"]})
    result.update({key: document[key] for key in ("final", "output") if key in document})
    return result


# ---- command line -----------------------------------------------------------------------------------------------

def differences(found, expected, where=""):
    """Every leaf that differs by more than AGREEMENT (relative above 1)."""
    if isinstance(expected, dict):
        if set(found) != set(expected):
            yield f"{where}: keys {sorted(set(found) ^ set(expected))}"
        for key in expected.keys() & found.keys():
            yield from differences(found[key], expected[key], f"{where}.{key}")
    elif isinstance(expected, list):
        if len(found) != len(expected):
            yield f"{where}: {len(found)} values for {len(expected)}"
        for i, (f, e) in enumerate(zip(found, expected)):
            yield from differences(f, e, f"{where}[{i}]")
    elif isinstance(expected, float) and found is not None:
        if not abs(found - expected) <= AGREEMENT * max(1, abs(expected)):
            yield f"{where}: {found!r} for {expected!r}"
    elif found != expected:
        yield f"{where}: {found!r} for {expected!r}"


def fixture_model(folder):
    """The model of a fixture: its .gguf file, or the folder itself."""
    return next(iter(sorted(folder.glob("*.gguf"))), folder)


def check():
    failed = 0
    folders = sorted(path.parent for path in FIXTURES.glob("*/golden.json"))
    for folder in folders:
        expected = json.loads((folder / "golden.json").read_text())
        ids = np.loadtxt(folder / "ids.txt", dtype=int, ndmin=1)
        missed = list(differences(golden(models.load(fixture_model(folder)), ids), expected, folder.name))
        failed += bool(missed)
        print("\n".join(missed[:20]) if missed else f"{folder.name}: ok")
    print(f"{len(folders) - failed} passed, {failed} failed")
    return 1 if failed or not folders else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?")
    parser.add_argument("--tokens", help="text file of token ids")
    parser.add_argument("--inspect", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        return check()
    if not options.model or not options.tokens:
        parser.error("give MODEL and --tokens, or --check")
    ids = np.loadtxt(options.tokens, dtype=int, ndmin=1)
    document = golden(models.load(options.model), ids)
    json.dump(as_inspect(document) if options.inspect else document, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
