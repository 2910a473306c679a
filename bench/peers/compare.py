"""`softscope inspect` against transformers and tensor statistics, on SmolLM2: numbers first, then times and ratios.

    compare.py SOFTSCOPE MODEL.gguf [TOKENS [ROUNDS]]      1024 tokens, best of 3 rounds

The peer is what one writes with transformers: `output_attentions`, then entropy, p_max, the greedy certificate of
theta, the weight on the first key, and hidden norms with torch operations. Both run in float32 on every processor
and in turns; the peer's model is loaded before its clock starts, softscope's whole command is timed, and once more
less its start and loading. Relies on: PyTorch, transformers; our own GGUF reader of tests/golden."""

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import transformers

GOLDEN = Path(__file__).resolve().parents[2] / "tests/golden"
sys.path[:0] = [str(GOLDEN / "reference"), str(GOLDEN / "models")]
import containers  # noqa: E402
from write_models import GGUF_NAMES, deinterleave  # noqa: E402

TOLERANCE = 1e-4  # between two float32 programs


# ---- the peer ---------------------------------------------------------------------------------------------------

def library_name(name):
    """The transformers name of a tensor of a GGUF llama."""
    stem, kind = name.rsplit(".", 1)
    number = next((part for part in stem.split(".") if part.isdigit()), "")
    pattern = ".".join("{}" if part.isdigit() else part for part in stem.split("."))
    ours = {file_pattern: library for library, file_pattern in GGUF_NAMES["llama"].items()}
    return ours[pattern].format(number) + "." + kind


def load_llama(path):
    """LlamaForCausalLM in float32 with a GGUF file's weights, dequantised by our own reader."""
    meta, tensors = containers.read_gguf(path)
    heads, kv_heads = meta["llama.attention.head_count"], meta["llama.attention.head_count_kv"]
    config = transformers.LlamaConfig(
        hidden_size=meta["llama.embedding_length"], num_hidden_layers=meta["llama.block_count"],
        num_attention_heads=heads, num_key_value_heads=kv_heads, intermediate_size=meta["llama.feed_forward_length"],
        vocab_size=len(tensors["token_embd.weight"]), max_position_embeddings=meta["llama.context_length"],
        rms_norm_eps=meta["llama.attention.layer_norm_rms_epsilon"], tie_word_embeddings="output.weight" not in tensors,
        rope_parameters={"rope_type": "default", "rope_theta": meta["llama.rope.freq_base"]})
    config._attn_implementation = "eager"
    state = {}
    for name, array in tensors.items():
        if "attn_q." in name or "attn_k." in name:
            array = deinterleave(array, heads if "attn_q." in name else kv_heads)
        state[library_name(name)] = torch.tensor(array, dtype=torch.float32)
    model = transformers.LlamaForCausalLM(config)
    missing = model.load_state_dict(state, strict=False)
    assert not missing.unexpected_keys and set(missing.missing_keys) <= {"lm_head.weight"}, missing
    model.tie_weights()
    return model.eval()


def row_statistics(weights):
    """weights [H][T][T] of one layer -> [H] means over rows of two or more keys, and the median certificate."""
    rows = weights[:, 1:]
    prefix = rows.sort(dim=-1, descending=True).values.cumsum(dim=-1)
    nearest = prefix.gather(-1, (prefix - 0.5).abs().argmin(dim=-1, keepdim=True))[..., 0]
    return {"entropy": -torch.xlogy(rows, rows).sum(dim=-1).mean(dim=1), "p_max": rows.amax(dim=-1).mean(dim=1),
            "first_key": rows[..., 0].mean(dim=1), "theta_cert": (4 * nearest * (1 - nearest)).quantile(0.5, dim=1)}


@torch.inference_mode()
def run_peer(model, ids):
    """(numbers, seconds of the forward pass, seconds of the statistics)."""
    began = time.perf_counter()
    out = model(ids, output_attentions=True, output_hidden_states=True, use_cache=False)
    passed = time.perf_counter()
    layers = [row_statistics(weights[0]) for weights in out.attentions]
    norms = [float(h[0].norm(dim=-1).max() / math.sqrt(h.shape[-1])) for h in out.hidden_states]
    nll = float(torch.nn.functional.cross_entropy(out.logits[0, :-1], ids[0, 1:]))
    numbers = {name: torch.stack([layer[name] for layer in layers]).numpy() for name in layers[0]}
    return {**numbers, "norms": np.array(norms), "nll": nll}, passed - began, time.perf_counter() - passed


# ---- softscope --------------------------------------------------------------------------------------------------

def run_softscope(program, model, ids_path, *options):
    """(document, seconds of the whole command)."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        began = time.perf_counter()
        subprocess.run([program, "inspect", model, "--tokens", ids_path, "--json", out.name, "--quiet", *options], check=True)
        seconds = time.perf_counter() - began  # reading the document is the caller's wish, not the command's work
        return json.load(open(out.name, encoding="utf-8")), seconds


def numbers_of(document):
    def heads(name, statistic=None):
        return np.array([[h[name][statistic] if statistic else h[name] for h in layer["heads"]]
                         for layer in document["layers"]])

    norms = [document["embedding"], *(layer["hidden"] for layer in document["layers"][:-1]), document["final"]]
    return {"entropy": heads("entropy", "mean"), "p_max": heads("p_max", "mean"), "first_key": heads("first_key"),
            "theta_cert": heads("theta_cert", "median"), "norms": np.array([state["block_inf_rms"] for state in norms]),
            "nll": document["output"]["nll_mean"]}


def compare(ours, theirs):
    """Largest difference of each number, relative above 1; theta by the distance of its subset from one half."""
    worst = {}
    for name in theirs:
        a, b = np.asarray(ours[name], float), np.asarray(theirs[name], float)
        if name == "theta_cert":
            a, b = (np.sqrt(np.maximum(0, 1 - x)) / 2 for x in (a, b))
        worst[name] = float((np.abs(a - b) / np.maximum(1, np.abs(b))).max())
        print(f"  {name:<11} differs by at most {worst[name]:.1e}")
    bad = [name for name, difference in worst.items() if not difference <= TOLERANCE]
    if bad:
        sys.exit(f"no timing: {', '.join(bad)} differ by more than {TOLERANCE}")


def main():
    program, model_path = sys.argv[1:3]
    tokens, rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 1024, int(sys.argv[4]) if len(sys.argv) > 4 else 3
    torch.set_num_threads(os.cpu_count())
    transformers.utils.logging.set_verbosity_error()
    text = json.loads((GOLDEN / "real/smollm2-135m-long.json").read_text())["ids"]
    ids = (text * (tokens // len(text) + 1))[:tokens]
    model, batch = load_llama(model_path), torch.tensor([ids])
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        print(*ids, file=file, flush=True)
        print(f"the same numbers, T = {tokens}, {torch.get_num_threads()} threads:")
        compare(numbers_of(run_softscope(program, model_path, file.name)[0]), run_peer(model, batch)[0])
        times = []
        for _ in range(rounds):
            whole, start = (run_softscope(program, model_path, file.name, *more)[1] for more in ((), ("--max-tokens", "1")))
            _, forward, statistics = run_peer(model, batch)
            times.append((forward, statistics, whole, whole - start))
    forward, statistics, whole, work = map(min, zip(*times))
    print(f"best of {rounds} rounds, in turns:\n"
          f"  transformers {transformers.__version__}, PyTorch {torch.__version__}: pass {forward:.2f} s + statistics "
          f"{statistics:.2f} s\n  softscope inspect, every default probe: {whole:.2f} s, less start and loading {work:.2f} s "
          f"({tokens / work:.0f} tokens a second)\n"
          f"  ratio: {(forward + statistics) / work:.1f} (whole command {(forward + statistics) / whole:.1f}, "
          f"pass alone {forward / work:.1f})")


if __name__ == "__main__":
    main()
