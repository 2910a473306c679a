"""The measures of attention rows, heads, hidden states and the output, in float64 and one row at a time:
the definitions of docs/result.md written down as plainly as they can be. Relies on: NumPy."""

import math

import numpy as np

EXACT_THETA_KEYS = 40   # longest row that meeting in the middle can settle here
FEW_TOKENS = 40         # texts up to this length have a likelihood a token in their golden
SATURATED_THETA = 0.01
ONE_KEY = 0.99          # p_max of a row that looks at one key only
SPREAD = 0.5            # p_max below which such a row is no longer concentrated


# ---- one row: p, its weights over the keys it may see, at least two -----------------------------------------

def entropy(scores):
    shifted = scores - scores.max()
    weights = np.exp(shifted)
    return math.log(weights.sum()) - (weights * shifted).sum() / weights.sum()


def spread(inside, outside):
    """theta of a subset with mass `inside`; both masses are sums, so that near 0 and 1 no digit is lost."""
    return 4 * inside * outside / (inside + outside) ** 2


def theta_cert(p):
    """The paper's greedy lower bound: the prefix of the sorted row nearest one half."""
    p = np.sort(p)[::-1]
    prefix = np.cumsum(p)
    k = np.argmin(np.abs(prefix - 0.5)) + 1
    return spread(p[:k].sum(), p[k:].sum())


def subset_sums(atoms):
    sums = np.zeros(1)
    for atom in atoms:
        sums = np.concatenate([sums, sums + atom])
    return sums


def theta(p):
    """4 max p(S)(1 - p(S)) over all subsets S, by meeting in the middle."""
    p = np.sort(p)[::-1]
    if p[0] >= 0.5:
        return spread(p[0], p[1:].sum())
    left, right = subset_sums(p[0::2]), np.sort(subset_sums(p[1::2]))
    above = np.minimum(np.searchsorted(right, 0.5 - left), len(right) - 1)
    below = np.maximum(above - 1, 0)
    nearest = min(np.abs(left + right[above] - 0.5).min(), np.abs(left + right[below] - 0.5).min())
    return 1 - 4 * nearest ** 2


def thetas(rows):
    """theta of each row; None if any is beyond exact reach."""
    if any(len(p) > EXACT_THETA_KEYS for p in rows):
        return None
    return [theta(p) for p in rows]


def jac_2(p):
    """Largest eigenvalue of diag(p) - p p^T: the root of sum p/(p - x) = 0 between the two largest weights."""
    p = np.sort(p[p > 0])[::-1]
    if len(p) == 1 or p[0] == p[1]:
        return p[0] if len(p) > 1 else 0.0
    low, high = p[1], p[0]
    while low < (middle := (low + high) / 2) < high:
        if (p / (p - middle)).sum() > 0:
            high = middle
        else:
            low = middle
    return low


def others(p):
    """1 - p_i as the sum of the other weights."""
    return np.array([p[:i].sum() + p[i + 1:].sum() for i in range(len(p))])


def jac_inf(p):
    return (2 * p * others(p)).max()


def jac_frob(p):
    square = p ** 2
    return math.sqrt((square * (others(p) ** 2 + others(square))).sum())


# ---- one head: which rows count, and what the weights point at ------------------------------------------------

def mean(values):
    values = [value for value in values if value is not None]
    return float(np.mean(values)) if values else None


def previous_occurrence(ids, t):
    """The last position before t with the token of t, or None."""
    return max((s for s in range(t) if ids[s] == ids[t]), default=None)


def sink(weights, seen_by):
    """(key, mean weight) of the key with the largest mean weight over the rows that may see it. Keys that few
    rows see, less than a quarter of those that see the most seen key, do not count: they would win by chance."""
    most = max(map(len, seen_by.values()))
    means = {key: np.mean(weights[rows, key]) for key, rows in seen_by.items() if 4 * len(rows) >= most}
    key = max(means, key=means.get)
    return key, float(means[key])


def value_share(weights, v, key, rows):
    """How much of the head's output the key's own value makes up, as a share of norms."""
    return mean(np.linalg.norm(weights[t, key] * v[key]) / np.linalg.norm(weights[t] @ v) for t in rows)


def unit_rms(x):
    return x / np.sqrt((x ** 2).mean(axis=-1, keepdims=True))


def scale_driven(attention, head, t):
    """Is the row spread out once its query and keys have root-mean-square 1?"""
    n = attention.supports[t]
    q, k = unit_rms(attention.q[head, t]), unit_rms(attention.k[head, :n])
    scores = k @ q / math.sqrt(len(q))
    weights = np.exp(scores - scores.max())
    return weights.max() / weights.sum() <= SPREAD


def head_measures(attention, head, ids, causal):
    n, weights, scores = attention.supports, attention.weights[head], attention.scores[head]
    tokens = len(ids)
    counted = [t for t in range(tokens) if n[t] >= 2]
    measures = {"max_logit": float(max(scores[t, :n[t]].max() for t in range(tokens)))}
    if not counted:
        return {**measures, "saturated": 0, "scale_driven": 0, "genuine": 0}
    row = {t: weights[t, :n[t]] for t in counted}
    exact = thetas([row[t] for t in counted])
    entropies = {t: entropy(scores[t, :n[t]]) for t in counted}
    single = [t for t in counted if row[t].max() >= ONE_KEY]
    driven = sum(scale_driven(attention, head, t) for t in single)
    occurrence = {t: previous_occurrence(ids, t) for t in counted}
    seen_by = {key: [t for t in counted if key < n[t]] for key in range(tokens)}
    sink_key, sink_weight = sink(weights, seen_by)
    measures.update({
        "entropy": mean(entropies.values()),
        "entropy_norm": mean(entropies[t] / math.log(n[t]) for t in counted),
        "p_max": mean(row[t].max() for t in counted),
        "theta_cert_median": float(np.median([theta_cert(row[t]) for t in counted])),
        "jac_2": mean(jac_2(row[t]) for t in counted),
        "jac_inf": mean(jac_inf(row[t]) for t in counted),
        "jac_frob": mean(jac_frob(row[t]) for t in counted),
        "first_key": mean(weights[t, 0] for t in counted),
        "sink_key": sink_key,
        "sink_weight": sink_weight,
        "sink_value_share": value_share(weights, attention.v[head], sink_key, seen_by[sink_key]),
        "sparsity": mean(row[t].max() / row[t].sum() for t in counted),
        "prev_token": mean(weights[t, t - 1] for t in counted if t > 0),
        "same_token": mean(weights[t, t] for t in counted),
        "induction": mean(weights[t, s + 1] for t, s in occurrence.items() if s is not None),
        "scale_driven": int(driven),
        "genuine": len(single) - int(driven),
    })
    if exact:
        measures.update({"theta_median": float(np.median(exact)), "theta_min": float(np.min(exact)),
                         "saturated": sum(bool(value <= SATURATED_THETA) for value in exact)})
    if not causal:
        measures["dominance"] = float(row[0].max())
    return measures


# ---- hidden states and the output -----------------------------------------------------------------------------

def hidden_measures(x):
    return {"block_inf_rms": float(np.linalg.norm(x, axis=1).max() / math.sqrt(x.shape[1])),
            "max_abs": float(np.abs(x).max())}


def output_measures(logits, ids):
    """Of the next-token distribution at every position; likelihoods of the tokens that follow."""
    peak = logits.max(axis=1, keepdims=True)
    log_p = logits - peak - np.log(np.exp(logits - peak).sum(axis=1, keepdims=True))
    p = np.exp(log_p)
    nll = [-float(log_p[t, ids[t + 1]]) for t in range(len(ids) - 1)]
    confident = [t for t in range(len(ids) - 1) if p[t].max() > 0.9]
    correct = sum(int(p[t].argmax() == ids[t + 1]) for t in confident)
    measures = {"nll_mean": mean(nll), "confident_correct": correct, "confident_wrong": len(confident) - correct}
    if len(ids) <= FEW_TOKENS:
        measures["tokens"] = {"nll": nll, "p_max": p.max(axis=1).tolist()}
    return measures
