"""Write a case to disk: a Hugging Face folder (one file or shards) or a GGUF copy, and read the copy back.
Used by make_models.py. Relies on: PyTorch and safetensors (folders), gguf_writer, cases."""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

from cases import ffn_width, parts_of
from gguf_writer import write_gguf

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "reference"))
import containers  # noqa: E402  (only to read back what a quantised file really holds)

DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


# ---- folders --------------------------------------------------------------------------------------------------

def stored(case, name, array):
    """The array as a torch tensor of the type it is stored in."""
    kind = case.vectors if array.ndim == 1 else case.matrices
    return torch.tensor(array).to(DTYPES[kind]).contiguous()


def extra_tensors(case, state, rng):
    c, more = case.config, {}
    if "masks" in case.extra:
        n = c["n_positions"]
        for layer in range(c["n_layer"]):
            more[f"transformer.h.{layer}.attn.bias"] = torch.tril(torch.ones(n, n)).view(1, 1, n, n).to(torch.uint8)
            more[f"transformer.h.{layer}.attn.masked_bias"] = torch.tensor(-1e4)
    if "head" in case.extra:
        embedding = "transformer.wte.weight" if case.architecture == "gpt2" else "model.embed_tokens.weight"
        more["lm_head.weight"] = stored(case, "lm_head.weight", state[embedding])
    if "pooler" in case.extra:
        width = c["hidden_size"]
        more["pooler.dense.weight"] = stored(case, "", rng.standard_normal((width, width)))
        more["pooler.dense.bias"] = stored(case, "", rng.standard_normal(width))
    if "position_ids" in case.extra:
        more["embeddings.position_ids"] = torch.arange(c["max_position_embeddings"])[None]
    return more


def file_name(case, name):
    if case.architecture == "gpt2":
        return name if case.prefix else name.removeprefix("transformer.")
    if case.architecture == "bert":
        return "bert." + name if case.prefix else name
    return name


def write_folder(case, folder, state, more):
    (folder / "config.json").write_text(json.dumps(case.config, indent=1) + "\n")
    tensors = {file_name(case, name): stored(case, name, array) for name, array in state.items()}
    tensors |= {file_name(case, name): tensor for name, tensor in more.items()}
    if case.shards == 1:
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        return
    names, weight_map = sorted(tensors), {}
    for shard in range(case.shards):
        title = f"model-{shard + 1:05}-of-{case.shards:05}.safetensors"
        mine = names[shard::case.shards]
        save_file({name: tensors[name] for name in mine}, folder / title, metadata={"format": "pt"})
        weight_map |= {name: title for name in mine}
    index = {"metadata": {"total_size": sum(t.nbytes for t in tensors.values())}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index) + "\n")


# ---- GGUF -----------------------------------------------------------------------------------------------------

# The names of a GGUF copy: pattern in the library's state: name in the file.
GGUF_NAMES = {
    "gpt2": {"transformer.wte": "token_embd", "transformer.wpe": "position_embd", "transformer.ln_f": "output_norm",
             "transformer.h.{}.ln_1": "blk.{}.attn_norm", "transformer.h.{}.attn.c_attn": "blk.{}.attn_qkv",
             "transformer.h.{}.attn.c_proj": "blk.{}.attn_output", "transformer.h.{}.ln_2": "blk.{}.ffn_norm",
             "transformer.h.{}.mlp.c_fc": "blk.{}.ffn_up", "transformer.h.{}.mlp.c_proj": "blk.{}.ffn_down"},
    "llama": {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
              "model.layers.{}.input_layernorm": "blk.{}.attn_norm",
              "model.layers.{}.self_attn.q_proj": "blk.{}.attn_q", "model.layers.{}.self_attn.k_proj": "blk.{}.attn_k",
              "model.layers.{}.self_attn.v_proj": "blk.{}.attn_v",
              "model.layers.{}.self_attn.o_proj": "blk.{}.attn_output",
              "model.layers.{}.post_attention_layernorm": "blk.{}.ffn_norm",
              "model.layers.{}.mlp.gate_proj": "blk.{}.ffn_gate", "model.layers.{}.mlp.up_proj": "blk.{}.ffn_up",
              "model.layers.{}.mlp.down_proj": "blk.{}.ffn_down"},
    "bert": {"embeddings.word_embeddings": "token_embd", "embeddings.position_embeddings": "position_embd",
             "embeddings.token_type_embeddings": "token_types", "embeddings.LayerNorm": "token_embd_norm",
             "encoder.layer.{}.attention.self.query": "blk.{}.attn_q",
             "encoder.layer.{}.attention.self.key": "blk.{}.attn_k",
             "encoder.layer.{}.attention.self.value": "blk.{}.attn_v",
             "encoder.layer.{}.attention.output.dense": "blk.{}.attn_output",
             "encoder.layer.{}.attention.output.LayerNorm": "blk.{}.attn_output_norm",
             "encoder.layer.{}.intermediate.dense": "blk.{}.ffn_up",
             "encoder.layer.{}.output.dense": "blk.{}.ffn_down",
             "encoder.layer.{}.output.LayerNorm": "blk.{}.layer_output_norm"}}


def gguf_name(case, name):
    stem, kind = name.rsplit(".", 1)
    number = next((part for part in stem.split(".") if part.isdigit()), "")
    pattern = ".".join("{}" if part.isdigit() else part for part in stem.split("."))
    return GGUF_NAMES[case.architecture][pattern].format(number) + "." + kind


def interleave(array, heads):
    """Rows of each head from half-split rotary order (0, 1, .. then E/2, ..) to pairs (0, E/2), (1, ..), which is
    what the llama architecture of GGUF rotates."""
    split = array.reshape(heads, 2, -1, *array.shape[1:])
    return split.swapaxes(1, 2).reshape(array.shape)


def deinterleave(array, heads):
    split = array.reshape(heads, -1, 2, *array.shape[1:])
    return split.swapaxes(1, 2).reshape(array.shape)


def change_for_gguf(case, name, array, permute):
    """What the file holds in place of the library's array (or back again, with the inverse permutation)."""
    _, heads, kv_heads, _ = parts_of(case)
    if case.architecture == "gpt2" and ".h." in name and array.ndim == 2:
        return array.T
    if "q_proj" in name:
        return permute(array, heads)
    if "k_proj" in name:
        return permute(array, kv_heads)
    return array


def gguf_metadata(case):
    c, arch = case.config, case.architecture
    width, heads, kv_heads, head_width = parts_of(case)
    meta = {"general.architecture": arch, "general.name": case.name,
            f"{arch}.block_count": c.get("n_layer") or c["num_hidden_layers"], f"{arch}.embedding_length": width,
            f"{arch}.context_length": c.get("n_positions") or c["max_position_embeddings"],
            f"{arch}.attention.head_count": heads, f"{arch}.feed_forward_length": ffn_width(c)}
    if arch == "llama":
        rope = c.get("rope_scaling") or {}
        meta |= {"llama.attention.head_count_kv": kv_heads, "llama.attention.layer_norm_rms_epsilon": c["rms_norm_eps"],
                 "llama.rope.freq_base": c["rope_theta"], "llama.rope.dimension_count": head_width,
                 "llama.vocab_size": c["vocab_size"]}
        if head_width * heads != width:
            meta |= {"llama.attention.key_length": head_width, "llama.attention.value_length": head_width}
        if rope.get("rope_type") == "linear":
            meta |= {"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": rope["factor"]}
        return meta
    meta[f"{arch}.attention.layer_norm_epsilon"] = c.get("layer_norm_epsilon") or c["layer_norm_eps"]
    if arch == "bert":
        meta |= {"bert.attention.causal": False, "tokenizer.ggml.token_type_count": c["type_vocab_size"]}
    return meta


def write_copy(case, folder, state, factors):
    """The GGUF copy of a case; `factors` divide the rotary frequencies, None for none."""
    tensors = {}
    for name, array in state.items():
        kind = "F32" if array.ndim == 1 else case.matrices
        if name.endswith(("position_embeddings.weight", "token_type_embeddings.weight")):
            kind = "F16"
        tensors[gguf_name(case, name)] = kind, np.ascontiguousarray(change_for_gguf(case, name, array, interleave))
    if factors is not None:
        tensors["rope_freqs.weight"] = "F32", factors
    write_gguf(folder / f"{case.name}.gguf", case.gguf, gguf_metadata(case), tensors)


def read_copy(case, folder, state):
    """What the file's weights are once dequantised, in the library's names and order."""
    _, tensors = containers.read_gguf(folder / f"{case.name}.gguf")
    return {name: change_for_gguf(case, name, tensors[gguf_name(case, name)], deinterleave) for name in state}
