"""GPT-2, Llama and BERT brought to one form: a Model of options and weights with one set of names.
Weights are [out][in] whatever the file does. Relies on: containers."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import containers


@dataclass
class Model:
    architecture: str
    heads: int
    kv_heads: int
    head_width: int
    context: int
    epsilon: float
    activation: str
    tensors: dict            # what is not in a layer: embed, positions, segment, embed_norm, final_norm, head
    layers: list             # a dict a layer: norm1 q k v o norm2 gate up down, each a pair (weight, bias or None)
    frequencies: np.ndarray = None  # [head_width / 2] rotary angle a position, None without rotary
    interleaved: bool = False       # rotary pairs are (0,1), (2,3).. rather than (0,E/2), (1,E/2+1)..
    causal: bool = True
    post_norm: bool = False
    facts: dict = field(default_factory=dict)

    def __post_init__(self):
        self.facts = {
            "architecture": self.architecture, "layers": len(self.layers), "heads": self.heads,
            "kv_heads": self.kv_heads, "width": self.tensors["embed"].shape[1], "head_width": self.head_width,
            "ffn_width": self.layers[0]["up"][0].shape[0], "vocabulary": self.tensors["embed"].shape[0],
            "context": self.context, "causal": self.causal}


def load(path):
    path = Path(path)
    if path.suffix == ".gguf":
        metadata, tensors = containers.read_gguf(path)
        return GGUF_LOADERS[metadata["general.architecture"]](metadata, tensors)
    config, tensors = containers.read_folder(path)
    return FOLDER_LOADERS[config["model_type"]](config, tensors)


def strip(tensors, prefix):
    """Names without `prefix`, where they have it."""
    return {name.removeprefix(prefix): value for name, value in tensors.items()}


def pair(tensors, name):
    return tensors[name + ".weight"], tensors.get(name + ".bias")


def rows(weight_and_bias, begin, end):
    weight, bias = weight_and_bias
    return weight[begin:end], None if bias is None else bias[begin:end]


# ---- rotary frequencies -----------------------------------------------------------------------------------

def plain_frequencies(width, base):
    return base ** (-np.arange(0, width, 2) / width)


def llama3_frequencies(frequencies, options):
    """Long wavelengths are stretched by `factor`, short ones kept, those between blended."""
    factor, low, high = options["factor"], options["low_freq_factor"], options["high_freq_factor"]
    turns = options["original_max_position_embeddings"] * frequencies / (2 * np.pi)  # within the old context
    kept = np.clip((turns - low) / (high - low), 0, 1)
    return kept * frequencies + (1 - kept) * frequencies / factor


def scaled_frequencies(width, base, options):
    frequencies = plain_frequencies(width, base)
    kind = options.get("rope_type", options.get("type", "default"))
    if kind == "linear":
        return frequencies / options["factor"]
    if kind == "llama3":
        return llama3_frequencies(frequencies, options)
    assert kind == "default", kind
    return frequencies


# ---- Hugging Face folders ---------------------------------------------------------------------------------

def gpt2_from_folder(config, tensors):
    t = strip(tensors, "transformer.")
    width = config["n_embd"]

    def conv1d(name):  # stored [in][out]
        weight, bias = pair(t, name)
        return weight.T, bias

    def layer(n):
        qkv = conv1d(f"h.{n}.attn.c_attn")
        return {"norm1": pair(t, f"h.{n}.ln_1"), "norm2": pair(t, f"h.{n}.ln_2"),
                "q": rows(qkv, 0, width), "k": rows(qkv, width, 2 * width), "v": rows(qkv, 2 * width, 3 * width),
                "o": conv1d(f"h.{n}.attn.c_proj"), "up": conv1d(f"h.{n}.mlp.c_fc"), "down": conv1d(f"h.{n}.mlp.c_proj")}

    heads = config["n_head"]
    return Model("gpt2", heads, heads, width // heads, config["n_positions"], config["layer_norm_epsilon"],
                 config["activation_function"],
                 {"embed": t["wte.weight"], "positions": t["wpe.weight"], "final_norm": pair(t, "ln_f"),
                  "head": t["wte.weight"]},
                 [layer(n) for n in range(config["n_layer"])])


def llama_from_folder(config, tensors):
    t = strip(tensors, "model.")
    heads = config["num_attention_heads"]
    head_width = config.get("head_dim") or config["hidden_size"] // heads
    rope = config.get("rope_parameters") or {"rope_theta": config.get("rope_theta", 10000.0),
                                             **(config.get("rope_scaling") or {})}

    def layer(n):
        at, mlp = f"layers.{n}.self_attn", f"layers.{n}.mlp"
        return {"norm1": pair(t, f"layers.{n}.input_layernorm"),
                "norm2": pair(t, f"layers.{n}.post_attention_layernorm"),
                "q": pair(t, f"{at}.q_proj"), "k": pair(t, f"{at}.k_proj"), "v": pair(t, f"{at}.v_proj"),
                "o": pair(t, f"{at}.o_proj"), "gate": pair(t, f"{mlp}.gate_proj"), "up": pair(t, f"{mlp}.up_proj"),
                "down": pair(t, f"{mlp}.down_proj")}

    return Model("llama", heads, config.get("num_key_value_heads", heads), head_width,
                 config["max_position_embeddings"], config["rms_norm_eps"], config["hidden_act"],
                 {"embed": t["embed_tokens.weight"], "final_norm": pair(t, "norm"),
                  "head": t["embed_tokens.weight"] if config.get("tie_word_embeddings") else t["lm_head.weight"]},
                 [layer(n) for n in range(config["num_hidden_layers"])],
                 frequencies=scaled_frequencies(head_width, rope["rope_theta"], rope))


def bert_from_folder(config, tensors):
    t = strip(tensors, "bert.")

    def layer(n):
        at = f"encoder.layer.{n}"
        return {"q": pair(t, f"{at}.attention.self.query"), "k": pair(t, f"{at}.attention.self.key"),
                "v": pair(t, f"{at}.attention.self.value"), "o": pair(t, f"{at}.attention.output.dense"),
                "norm1": pair(t, f"{at}.attention.output.LayerNorm"), "up": pair(t, f"{at}.intermediate.dense"),
                "down": pair(t, f"{at}.output.dense"), "norm2": pair(t, f"{at}.output.LayerNorm")}

    heads = config["num_attention_heads"]
    return Model("bert", heads, heads, config["hidden_size"] // heads, config["max_position_embeddings"],
                 config["layer_norm_eps"], config["hidden_act"],
                 {"embed": t["embeddings.word_embeddings.weight"], "embed_norm": pair(t, "embeddings.LayerNorm"),
                  "positions": t["embeddings.position_embeddings.weight"],
                  "segment": t["embeddings.token_type_embeddings.weight"][0]},
                 [layer(n) for n in range(config["num_hidden_layers"])], causal=False, post_norm=True)


FOLDER_LOADERS = {"gpt2": gpt2_from_folder, "llama": llama_from_folder, "bert": bert_from_folder}


# ---- GGUF: one naming for all, Linear orientation; the llama architecture pairs rotary dimensions (0,1), (2,3).. --

GGUF_LAYER = {"norm1": "attn_norm", "q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output",
              "norm2": "ffn_norm", "gate": "ffn_gate", "up": "ffn_up", "down": "ffn_down"}
GGUF_BERT_NORMS = {"norm1": "attn_output_norm", "norm2": "layer_output_norm"}


def gguf_layers(tensors, count, names):
    return [{key: pair(tensors, f"blk.{n}.{name}") for key, name in names.items()
             if f"blk.{n}.{name}.weight" in tensors} for n in range(count)]


def gpt2_from_gguf(meta, t):
    heads, width = meta["gpt2.attention.head_count"], meta["gpt2.embedding_length"]
    layers = gguf_layers(t, meta["gpt2.block_count"], GGUF_LAYER)
    for n, layer in enumerate(layers):
        qkv = pair(t, f"blk.{n}.attn_qkv")
        layer.update({key: rows(qkv, i * width, (i + 1) * width) for i, key in enumerate("qkv")})
    return Model("gpt2", heads, heads, width // heads, meta["gpt2.context_length"],
                 meta["gpt2.attention.layer_norm_epsilon"], "gelu_new",
                 {"embed": t["token_embd.weight"], "positions": t["position_embd.weight"],
                  "final_norm": pair(t, "output_norm"), "head": t.get("output.weight", t["token_embd.weight"])}, layers)


def llama_from_gguf(meta, t):
    heads = meta["llama.attention.head_count"]
    head_width = meta.get("llama.attention.key_length", meta["llama.embedding_length"] // heads)
    frequencies = plain_frequencies(head_width, meta.get("llama.rope.freq_base", 10000.0))
    if meta.get("llama.rope.scaling.type") == "linear":
        frequencies = frequencies / meta["llama.rope.scaling.factor"]
    if "rope_freqs.weight" in t:
        frequencies = frequencies / t["rope_freqs.weight"]
    return Model("llama", heads, meta.get("llama.attention.head_count_kv", heads), head_width,
                 meta["llama.context_length"], meta["llama.attention.layer_norm_rms_epsilon"], "silu",
                 {"embed": t["token_embd.weight"], "final_norm": pair(t, "output_norm"),
                  "head": t.get("output.weight", t["token_embd.weight"])},
                 gguf_layers(t, meta["llama.block_count"], GGUF_LAYER), frequencies=frequencies, interleaved=True)


def bert_from_gguf(meta, t):
    heads = meta["bert.attention.head_count"]
    return Model("bert", heads, heads, meta["bert.embedding_length"] // heads, meta["bert.context_length"],
                 meta["bert.attention.layer_norm_epsilon"], "gelu",
                 {"embed": t["token_embd.weight"], "embed_norm": pair(t, "token_embd_norm"),
                  "positions": t["position_embd.weight"], "segment": t["token_types.weight"][0]},
                 gguf_layers(t, meta["bert.block_count"], GGUF_LAYER | GGUF_BERT_NORMS), causal=False, post_norm=True)


GGUF_LOADERS = {"gpt2": gpt2_from_gguf, "llama": llama_from_gguf, "bert": bert_from_gguf}
