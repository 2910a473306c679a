"""The measures, computed in another way than in reference/measures.py: dense Jacobians and their eigenvalues,
subset sums in exact integers, masks and matrices rather than rows. Used by make_models.py.
Relies on: NumPy, PyTorch (log_softmax)."""

import math

import numpy as np
import torch

EXACT = 40      # the longest row with an exact theta
FEW_TOKENS = 40  # texts up to this length have a likelihood a token in their golden
ONE = 1 << 60  # a whole row in exact integers


def nearest_half(p):
    """The exact subset sum nearest one half, over integers that add up to ONE."""
    atoms = [int(round(w * ONE)) for w in p]
    atoms[int(np.argmax(p))] += ONE - sum(atoms)
    halves = []
    for part in (atoms[: len(atoms) // 2], atoms[len(atoms) // 2:]):
        sums = np.zeros(1, np.int64)
        for atom in part:
            sums = np.sort(np.concatenate([sums, sums + atom]), kind="stable")
        halves.append(sums)
    low, high = halves
    at = np.searchsorted(high, ONE // 2 - low)
    best = [low + high[np.clip(at + shift, 0, len(high) - 1)] for shift in (-1, 0)]
    best = np.concatenate(best)
    return int(best[np.argmin(np.abs(best - ONE // 2))])


def exact_theta(p):
    inside = nearest_half(p)
    return 4 * (inside / ONE) * ((ONE - inside) / ONE)


def row_measures(p):
    jacobian = np.diag(p) - np.outer(p, p)
    order = np.cumsum(np.sort(p)[::-1])
    best = order[np.argmin(np.abs(order - 0.5))]
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(p > 0, p * np.log(p), 0).sum()
    return {"entropy": entropy, "entropy_norm": entropy / math.log(len(p)), "p_max": p.max(),
            "theta_cert": 4 * best * (1 - best), "theta": exact_theta(p) if EXACT >= len(p) else np.nan, "jac_2": np.linalg.eigvalsh(jacobian)[-1],
            "jac_inf": np.abs(jacobian).sum(axis=1).max(), "jac_frob": np.linalg.norm(jacobian)}


def clear(value, border, what):
    """A count must not hang on the last bits: refuse seeds whose values come near a threshold."""
    if np.any(np.abs(np.asarray(value) - border) < 1e-4):
        raise Unclear(f"{what} {value} near {border}")


class Unclear(Exception):
    """This seed's numbers would make a fragile golden."""


def head_measures(q, k, v, weights, ids, causal):
    """q, k, v [T][E] of one head as they enter the scores, weights [T][T]."""
    tokens, width = q.shape
    allowed = np.tril(np.ones((tokens, tokens), bool)) if causal else np.ones((tokens, tokens), bool)
    scores = q @ k.T / math.sqrt(width)
    found = {"max_logit": scores[allowed].max()}
    counted = allowed.sum(axis=1) >= 2
    if not counted.any():
        return found | {"saturated": 0, "scale_driven": 0, "genuine": 0}
    w, inside = weights[counted], allowed[counted]
    rows = [row_measures(row[mask]) for row, mask in zip(w, inside)]
    table = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    found |= {name: table[name].mean() for name in ("entropy", "entropy_norm", "p_max", "jac_2", "jac_inf", "jac_frob")}
    if tokens <= EXACT:
        clear(table["theta"], 0.01, "theta")
        found |= {"theta_median": np.median(table["theta"]), "theta_min": table["theta"].min(),
                  "saturated": int((table["theta"] <= 0.01).sum())}
    found |= {"theta_cert_median": np.median(table["theta_cert"]), "first_key": w[:, 0].mean(), "sparsity": table["p_max"].mean()}

    views = inside.sum(axis=0)
    column = np.where(views >= views.max() / 4, w.sum(axis=0) / np.maximum(views, 1), -1)
    sink = int(column.argmax())
    if tokens > 1:
        clear(np.delete(column, sink), column[sink], "sink")
    see = inside[:, sink]
    share = np.linalg.norm(w[:, sink, None] * v[sink], axis=1) / np.linalg.norm(w @ v, axis=1)
    found |= {"sink_key": sink, "sink_weight": column[sink], "sink_value_share": share[see].mean()}

    at = np.arange(tokens)
    same = ids[:, None] == ids[None, :]
    before = np.where(same & (at[None, :] < at[:, None]), at[None, :], -1).max(axis=1)
    repeated = counted & (before >= 0)
    prev = counted & (at > 0)
    found |= {"prev_token": weights[prev, at[prev] - 1].mean(), "same_token": weights[counted, at[counted]].mean(),
              "induction": weights[repeated, before[repeated] + 1].mean() if repeated.any() else None}

    unit_q = q / np.sqrt((q ** 2).mean(axis=1, keepdims=True))
    unit_k = k / np.sqrt((k ** 2).mean(axis=1, keepdims=True))
    unit = np.exp(np.where(allowed, unit_q @ unit_k.T / math.sqrt(width), -np.inf))
    unit_max = (unit.max(axis=1) / unit.sum(axis=1))[counted]
    clear(table["p_max"], 0.99, "p_max")
    single = table["p_max"] >= 0.99
    clear(unit_max[single], 0.5, "unit p_max")
    found |= {"scale_driven": int((single & (unit_max <= 0.5)).sum()),
              "genuine": int((single & (unit_max > 0.5)).sum())}
    if not causal:
        found["dominance"] = weights[0].max()
    return found


def hidden_measures(x):
    return {"block_inf_rms": float(np.sqrt((x ** 2).mean(axis=1)).max()), "max_abs": float(np.abs(x).max())}


def output_measures(logits, ids):
    log_p = torch.log_softmax(torch.tensor(logits), dim=-1).numpy()
    p_max = np.exp(log_p.max(axis=1))
    clear(p_max, 0.9, "confidence")
    nll = -log_p[np.arange(len(ids) - 1), ids[1:]]
    right = log_p[:-1].argmax(axis=1) == ids[1:]
    sure = p_max[:-1] > 0.9
    found = {"nll_mean": float(nll.mean()) if len(nll) else None, "confident_correct": int((sure & right).sum()),
             "confident_wrong": int((sure & ~right).sum())}
    if len(ids) <= FEW_TOKENS:
        found["tokens"] = {"nll": nll.tolist(), "p_max": p_max.tolist()}
    return found
