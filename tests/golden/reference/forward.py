"""One forward pass in float64, keeping everything: the plain twin of the program's streaming pass.
Letters: T tokens, D width, H heads, K key/value heads, E head width. Relies on: models, NumPy."""

import math
from dataclasses import dataclass

import numpy as np


@dataclass
class Attention:
    """What one layer's attention saw and did."""
    q: np.ndarray        # [H][T][E] rotated
    k: np.ndarray        # [H][T][E] rotated, each key/value head repeated for its group
    v: np.ndarray        # [H][T][E]
    scores: np.ndarray   # [H][T][T] scaled
    weights: np.ndarray  # [H][T][T] 0 where not allowed
    supports: np.ndarray  # [T] query t sees keys 0 .. supports[t] - 1


@dataclass
class Trace:
    embedding: np.ndarray  # [T][D]
    attention: list        # an Attention a layer
    hidden: list           # [T][D] leaving each layer
    final: np.ndarray      # [T][D] after the final norm, None without one
    logits: np.ndarray     # [T][V], None without a head


def linear(x, weight_and_bias):
    weight, bias = weight_and_bias
    return x @ weight.T if bias is None else x @ weight.T + bias


def layer_norm(x, gamma, beta, epsilon):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred ** 2).mean(axis=-1, keepdims=True) + epsilon) * gamma + beta


def rms_norm(x, gamma, _, epsilon):
    return x / np.sqrt((x ** 2).mean(axis=-1, keepdims=True) + epsilon) * gamma


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def gelu_erf(x):
    return 0.5 * x * (1 + np.vectorize(math.erf, otypes=[float])(x / math.sqrt(2)))


ACTIVATIONS = {"gelu_new": gelu_tanh, "gelu_pytorch_tanh": gelu_tanh, "gelu": gelu_erf,
               "silu": lambda x: x / (1 + np.exp(-x)), "relu": lambda x: np.maximum(x, 0)}


def rotate(x, model):
    """x [H][T][E]: pair i of a vector at position t turns by the angle t * frequencies[i]."""
    angle = np.arange(x.shape[1])[:, None] * model.frequencies
    cos, sin = np.cos(angle), np.sin(angle)
    half = model.head_width // 2
    first, second = (slice(0, None, 2), slice(1, None, 2)) if model.interleaved else (slice(0, half), slice(half, None))
    out = np.empty_like(x)
    out[..., first] = x[..., first] * cos - x[..., second] * sin
    out[..., second] = x[..., second] * cos + x[..., first] * sin
    return out


def split_heads(x, heads):
    """[T][heads * E] -> [heads][T][E]"""
    return x.reshape(len(x), heads, -1).swapaxes(0, 1)


def softmax_row(scores):
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def attend(x, layer, model):
    """The heads' output [T][H * E], and the Attention that made it."""
    q = split_heads(linear(x, layer["q"]), model.heads)
    k = split_heads(linear(x, layer["k"]), model.kv_heads)
    v = split_heads(linear(x, layer["v"]), model.kv_heads)
    if model.frequencies is not None:
        q, k = rotate(q, model), rotate(k, model)
    group = model.heads // model.kv_heads
    k, v = np.repeat(k, group, axis=0), np.repeat(v, group, axis=0)
    scores = q @ k.swapaxes(1, 2) / math.sqrt(model.head_width)
    tokens = len(x)
    supports = np.arange(1, tokens + 1) if model.causal else np.full(tokens, tokens)
    weights = np.zeros_like(scores)
    for head in range(model.heads):
        for t in range(tokens):
            weights[head, t, :supports[t]] = softmax_row(scores[head, t, :supports[t]])
    mixed = (weights @ v).swapaxes(0, 1).reshape(tokens, -1)
    return mixed, Attention(q, k, v, scores, weights, supports)


def feed_forward(x, layer, model):
    act = ACTIVATIONS[model.activation]
    hidden = act(linear(x, layer["gate"])) * linear(x, layer["up"]) if "gate" in layer else act(linear(x, layer["up"]))
    return linear(hidden, layer["down"])


def forward(model, ids):
    t = model.tensors

    def norm(x, gamma_and_beta):
        kind = rms_norm if gamma_and_beta[1] is None else layer_norm
        return kind(x, *gamma_and_beta, model.epsilon)

    x = t["embed"][ids]
    if "positions" in t:
        x = x + t["positions"][:len(ids)]
    if "segment" in t:
        x = x + t["segment"]
    if "embed_norm" in t:
        x = norm(x, t["embed_norm"])
    trace = Trace(x, [], [], None, None)
    for layer in model.layers:
        mixed, attention = attend(x if model.post_norm else norm(x, layer["norm1"]), layer, model)
        x = x + linear(mixed, layer["o"])
        if model.post_norm:
            x = norm(x, layer["norm1"])
            x = norm(x + feed_forward(x, layer, model), layer["norm2"])
        else:
            x = x + feed_forward(norm(x, layer["norm2"]), layer, model)
        trace.attention.append(attention)
        trace.hidden.append(x)
    if "final_norm" in t:
        trace.final = norm(x, t["final_norm"])
        trace.logits = trace.final @ t["head"].T
    return trace
