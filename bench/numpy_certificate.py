"""NumPy's greedy certificate (sort, cumulative sum, argmin), to stand beside bench_theta: microseconds a row, least of
several passes. Usage: numpy_certificate.py [ROWS.npy ...]"""
import sys
import time

import numpy as np


def certificate(row):
    sums = np.cumsum(np.sort(row)[::-1], dtype=np.float64)
    nearest = sums[np.argmin(np.abs(sums - 0.5))]
    return 4 * nearest * (1 - nearest)


def report(name, rows):
    least = np.inf
    for _ in range(7):
        start = time.perf_counter()
        for row in rows:
            certificate(row)
        least = min(least, time.perf_counter() - start)
    print(f"{name:16} {rows.shape[1]:6} {least / len(rows) * 1e6:9.2f} us", flush=True)


def softmax(logits):
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)


random = np.random.default_rng(1)
for n in (64, 1024, 8192):
    report("near-uniform", softmax(0.05 * random.standard_normal((200, n))))
    report("zipf", softmax(np.tile(-np.log(np.arange(1.0, n + 1)), (200, 1))))
    report("gaussian logits", softmax(2 * random.standard_normal((200, n))))
for path in sys.argv[1:]:
    rows = np.load(path)
    report(path.rsplit("/", 1)[-1], rows.reshape(-1, rows.shape[-1]))
