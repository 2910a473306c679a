"""The tiny models to make: one Case each, with the odd corner it is there for. Used by make_models.py."""

from dataclasses import dataclass, field


@dataclass
class Case:
    name: str
    architecture: str
    config: dict
    tokens: int
    matrices: str = "F32"       # storage of matrices, and of vectors
    vectors: str = "F32"
    prefix: bool = True         # names with the wrapper's prefix (transformer., bert.)
    shards: int = 1
    gguf: int = 0               # GGUF version, 0 for a folder
    extra: set = field(default_factory=set)  # "masks", "pooler", "position_ids", "head": tensors to add


def gpt2(width, heads, vocabulary, context, **more):
    return {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": width, "n_head": heads, "n_layer": 2,
            "n_positions": context, "vocab_size": vocabulary, "n_inner": None, "activation_function": "gelu_new",
            "layer_norm_epsilon": 1e-5, "scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False,
            "reorder_and_upcast_attn": False, "attn_pdrop": 0.1, "embd_pdrop": 0.1, "resid_pdrop": 0.1,
            "tie_word_embeddings": True, **more}


def llama(width, heads, kv_heads, ffn, vocabulary, context, **more):
    return {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": width,
            "num_attention_heads": heads, "num_key_value_heads": kv_heads, "num_hidden_layers": 2,
            "intermediate_size": ffn, "vocab_size": vocabulary, "max_position_embeddings": context,
            "hidden_act": "silu", "rms_norm_eps": 1e-5, "attention_bias": False, "mlp_bias": False,
            "tie_word_embeddings": False, "attention_dropout": 0.0, **more}


def bert(width, heads, ffn, vocabulary, context, **more):
    return {"model_type": "bert", "architectures": ["BertModel"], "hidden_size": width, "num_attention_heads": heads,
            "num_hidden_layers": 2, "intermediate_size": ffn, "vocab_size": vocabulary,
            "max_position_embeddings": context, "type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
            "position_embedding_type": "absolute", "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1,
            **more}


LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64}

CASES = [
    Case("gpt2-masks", "gpt2", gpt2(8, 2, 23, 20, n_layer=1), 20, prefix=False, extra={"masks"}),
    Case("gpt2-inner", "gpt2", gpt2(10, 2, 29, 40, n_inner=14, activation_function="gelu"), 37, "F16", "F16",
         extra={"head"}),
    Case("gpt2-bf16", "gpt2", gpt2(8, 4, 13, 8, n_layer=1, layer_norm_epsilon=1e-3), 2, "BF16", "F32"),
    Case("gpt2-one", "gpt2", gpt2(6, 1, 17, 4, n_layer=1), 1, "F16", "F32", prefix=False),
    Case("llama-gqa", "llama", llama(16, 4, 2, 6, 17, 48, rope_theta=5003.0, rope_scaling=None, torch_dtype="float16"),
         37, "F16", "F16"),
    Case("llama-bias", "llama", llama(12, 6, 3, 10, 19, 32, head_dim=4, num_hidden_layers=1, attention_bias=True,
                                      mlp_bias=True, tie_word_embeddings=True, rms_norm_eps=1e-3,
                                      rope_parameters={"rope_type": "default", "rope_theta": 777.0}), 13, "BF16",
         "BF16"),
    Case("llama-mqa-linear", "llama", llama(8, 4, 1, 8, 17, 32, head_dim=4, rope_theta=10000.0,
                                            rope_scaling={"type": "linear", "factor": 2.5}), 19, "F16", "F32"),
    Case("llama-linear-5", "llama", llama(12, 3, 3, 8, 13, 32, num_hidden_layers=1, rope_parameters={
        "rope_type": "linear", "factor": 3.0, "rope_theta": 50.0}), 2, "F16", "F16", shards=2),
    Case("llama-llama3-5", "llama", llama(16, 2, 2, 12, 19, 512, num_hidden_layers=1,
                                          rope_parameters={**LLAMA3, "rope_theta": 100.0}), 29, "BF16", "BF16",
         shards=3),
    Case("llama-llama3-4", "llama", llama(16, 2, 1, 12, 19, 512, num_hidden_layers=1, tie_word_embeddings=True,
                                          rope_theta=100.0, rope_scaling=LLAMA3), 33, "F16", "F32", extra={"head"}),
    Case("llama-one", "llama", llama(8, 2, 1, 8, 17, 16, num_hidden_layers=1, rope_theta=10000.0), 1, "F32", "F16"),
    Case("llama-long", "llama", llama(8, 2, 1, 8, 13, 160, num_hidden_layers=1, rope_theta=3000.0), 150, "F16", "F16"),
    Case("bert-gelu", "bert", bert(12, 3, 10, 17, 25), 23, "F16", "F32", extra={"pooler", "position_ids"}),
    Case("bert-tanh", "bert", bert(8, 2, 12, 23, 20, hidden_act="gelu_new", layer_norm_eps=1e-3, type_vocab_size=3), 20,
         "F16", "F16", prefix=False, extra={"pooler"}),
    Case("bert-relu", "bert", bert(8, 2, 8, 13, 12, num_hidden_layers=1, hidden_act="relu", layer_norm_eps=1e-5), 2,
         "BF16", "F32"),
    Case("bert-one", "bert", bert(6, 2, 8, 13, 8, num_hidden_layers=1), 1, prefix=False),
    Case("bert-long", "bert", bert(8, 2, 8, 13, 140, num_hidden_layers=1), 131, "F16", "F16", prefix=False),
    Case("gguf-llama-f16", "llama", llama(8, 4, 2, 8, 17, 32, head_dim=6, rope_theta=500.0,
                                          rope_scaling={"rope_type": "linear", "factor": 2.0}), 17, "F16", gguf=3),
    Case("gguf-llama-q8_0", "llama", llama(32, 4, 1, 32, 13, 512, num_hidden_layers=1, tie_word_embeddings=True,
                                           rope_theta=100.0, rope_scaling=LLAMA3), 21, "Q8_0", gguf=3),
    Case("gguf-llama-q4_0", "llama", llama(32, 4, 1, 32, 13, 32, num_hidden_layers=1, rope_theta=10000.0,
                                           attention_bias=True), 21, "Q4_0", gguf=2),
    Case("gguf-llama-q4_1", "llama", llama(32, 8, 4, 32, 13, 32, num_hidden_layers=1, rope_theta=10000.0), 18, "Q4_1",
         gguf=3),
    Case("gguf-gpt2-f32", "gpt2", gpt2(8, 2, 19, 20, n_layer=1), 19, "F32", gguf=2),
    Case("gguf-gpt2-bf16", "gpt2", gpt2(10, 2, 19, 20, n_layer=1, n_inner=13), 20, "BF16", gguf=3),
    Case("gguf-bert-f16", "bert", bert(12, 3, 10, 19, 16, num_hidden_layers=1), 15, "F16", gguf=3),
    Case("gguf-bert-q4_1", "bert", bert(32, 4, 32, 13, 18, num_hidden_layers=1, layer_norm_eps=1e-6), 18, "Q4_1",
         gguf=2),
]


def parts_of(case):
    """(width, heads, key/value heads, head width)."""
    c = case.config
    if case.architecture == "gpt2":
        return c["n_embd"], c["n_head"], c["n_head"], c["n_embd"] // c["n_head"]
    heads = c["num_attention_heads"]
    return (c["hidden_size"], heads, c.get("num_key_value_heads", heads),
            c.get("head_dim") or c["hidden_size"] // heads)


def ffn_width(config):
    if config["model_type"] == "gpt2":
        return config["n_inner"] or 4 * config["n_embd"]
    return config["intermediate_size"]
