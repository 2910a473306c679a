"""Random weights whose attention is worth measuring: scores of deviation 2 to 4, a sink, a saturated head.
Used by make_models.py. Relies on: NumPy, cases."""

import math

import numpy as np

from cases import parts_of

EMBEDDINGS = ("wte.weight", "embed_tokens.weight", "word_embeddings.weight")


def spread_scores(q, k, heads, rng):
    """Scale q [H*E][D] and k [K*E][D] in place: scores of deviation 2 to 4, in the last head 9."""
    width, head_width = q.shape[1], q.shape[0] // heads
    k *= math.sqrt(width)
    for head in range(heads):
        deviation = 9.0 if head == heads - 1 else rng.uniform(2, 4)
        q[head * head_width:(head + 1) * head_width] *= deviation / math.sqrt(width)


def plant_sink(q, k, embedding, heads, first_token):
    """Head 0 looks at the first token: its key answers a direction that every query holds."""
    head_width = q.shape[0] // heads
    direction = np.zeros(head_width)
    direction[-1] = direction[head_width // 2 - 1] = 1.0  # the slowest rotary pair, or any two dimensions
    token = embedding[first_token] / np.linalg.norm(embedding[first_token])
    common = embedding.mean(axis=0) / np.linalg.norm(embedding.mean(axis=0))
    strength = 4 / math.sqrt(q.shape[1])
    q[:head_width] += strength * np.outer(direction, common)
    k[:head_width] += strength * np.outer(direction, token)


def attention_weights(case, state, layer):
    """Query and key weights of a layer as [out][in] views to change in place."""
    if case.architecture == "gpt2":
        qkv = state[f"transformer.h.{layer}.attn.c_attn.weight"].T
        width = qkv.shape[1]
        return qkv[:width], qkv[width:2 * width]
    if case.architecture == "llama":
        at = f"model.layers.{layer}.self_attn."
        return state[at + "q_proj.weight"], state[at + "k_proj.weight"]
    at = f"encoder.layer.{layer}.attention.self."
    return state[at + "query.weight"], state[at + "key.weight"]


def random_state(case, shapes, first_token, rng):
    """{name: float64 array}: matrices of fan-in scale, gains about 1, small biases."""
    state = {}
    for name, shape in shapes.items():
        if len(shape) == 1:
            norm = ("ln_" in name or "norm" in name.lower()) and name.endswith("weight")
            state[name] = (1.0 if norm else 0.0) + 0.2 * rng.standard_normal(shape)
        else:
            fan_in = shape[0] if case.architecture == "gpt2" and ".h." in name else shape[1]
            state[name] = rng.standard_normal(shape) / math.sqrt(fan_in)
    embedding = next(array for name, array in state.items() if name.endswith(EMBEDDINGS))
    embedding *= math.sqrt(embedding.shape[1])
    embedding += 0.7 * rng.standard_normal(embedding.shape[1])
    embedding[first_token] *= 2
    heads = parts_of(case)[1]
    for layer in range(case.config.get("n_layer") or case.config["num_hidden_layers"]):
        q, k = attention_weights(case, state, layer)
        spread_scores(q, k, heads, rng)
        plant_sink(q, k, embedding, heads, first_token)
    return state


def random_ids(tokens, vocabulary, rng):
    """Few distinct tokens, so that some come back; the first is not repeated."""
    pool = rng.choice(vocabulary, size=min(vocabulary, max(3, 2 * tokens // 3)), replace=False)
    return np.concatenate([pool[:1], rng.choice(pool[1:], size=tokens - 1)]) if tokens > 1 else pool[:1]
