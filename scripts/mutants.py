#!/usr/bin/env python3
"""Make one operator wrong at a time and see that the golden tests notice: a test that cannot fail is a defect.

    scripts/mutants.py [WORD...]      only the mutants whose name has one of the words; takes a few minutes

Each mutant is one replacement in one file of a copy of the sources under build/mutants, built there and held
against tests/golden/models. A mutant that survives, no longer applies or does not build is a failure.
Relies on: cmake and ninja, a Python with NumPy (build/venv, or the one that runs this), git."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TREE, BUILD = ROOT / "build/mutants/tree", ROOT / "build/mutants/build"
COPIED = ("CMakeLists.txt", "cmake", "src", "cli", "include", "web")

# name, file, right text (it occurs once), wrong text
MUTANTS = [
    # embedding
    ("embedding: no positions", "src/nn/embedding.c", "y[d] += j->position_embed[", "y[d] += 0 * j->position_embed["),
    ("embedding: positions from 1", "src/nn/embedding.c", "position_embed[t * j->width + d]",
     "position_embed[(t ? t - 1 : 0) * j->width + d]"),
    ("embedding: no segment", "src/nn/embedding.c", "y[d] += j->segment_embed[d]", "y[d] += 0 * j->segment_embed[d]"),
    ("embedding: no norm after it", "src/model/forward.c", "if (c->embed_norm) normalise", "if (0) normalise"),
    # norms
    ("norm: no epsilon", "src/nn/norm_simd.c", "+ norm->epsilon", "+ 0 * norm->epsilon"),
    ("norm: RMSNorm takes the mean out", "src/nn/norm_simd.c", "layer ? row_mean(x, width) : 0", "row_mean(x, width)"),
    ("norm: LayerNorm keeps the mean", "src/nn/norm_simd.c", "layer ? row_mean(x, width) : 0", "0"),
    ("norm: variance over n - 1", "src/nn/norm_simd.c", "sum += (x[i] - center) * (x[i] - center);\n    return sum / (double)n;",
     "sum += (x[i] - center) * (x[i] - center);\n    return sum / (double)(n - 1);"),
    ("norm: no beta", "src/nn/norm_simd.c", "y[i] = layer ? v + norm->beta[i] : v;", "y[i] = v;"),
    ("norm: no final norm", "src/model/forward.c", "if (c->final_norm) {", "if (0) {"),
    # activations
    ("activation: GELU's cubic term", "src/nn/activation_simd.c", "0.044715f", "0.04f"),
    ("activation: erf form is the tanh form", "src/nn/activation_simd.c", "ACTIVATION_LOOP(gelu_erf)",
     "ACTIVATION_LOOP(gelu_tanh)"),
    ("activation: tanh form is the erf form", "src/nn/activation_simd.c", "ACTIVATION_LOOP(gelu_tanh)",
     "ACTIVATION_LOOP(gelu_erf)"),
    ("activation: SiLU with half its slope", "src/nn/activation_simd.c", "1.0f + vf_exp(-x)", "1.0f + vf_exp(-0.5f * x)"),
    ("activation: ReLU lets negatives through", "src/nn/activation_simd.c",
     "vf_pick(vm_above(vf_all(0), x), vf_all(0), x)", "x"),
    ("activation: gate and up swapped", "src/nn/activation.c", "(j->activation, x, j->up_offset ? x + j->up_offset : NULL,",
     "(j->activation, x + j->up_offset, j->up_offset ? x : NULL,"),
    # rotary
    ("rotary: turns the other way", "src/nn/rotary.c", "a * cosines[i] - b * sines[i]", "a * cosines[i] + b * sines[i]"),
    ("rotary: layouts swapped", "src/nn/rotary.c", "half ? 1 : 2, half ? pairs : 1", "half ? 2 : 1, half ? 1 : pairs"),
    ("rotary: sine of twice the angle", "src/nn/rotary.c", "(float)sin((double)t * frequency)",
     "(float)sin(2 * (double)t * frequency)"),
    ("rotary: no linear scaling", "src/nn/rotary.c", "== SS_ROTARY_LINEAR) frequency /= rotary->factor",
     "== SS_ROTARY_LINEAR) frequency /= 1"),
    ("rotary: no llama3 scaling", "src/nn/rotary.c", "return frequency / rotary->factor;", "return frequency;"),
    ("rotary: llama3 without the blend", "src/nn/rotary.c",
     "return (1 - blend) * frequency / rotary->factor + blend * frequency;", "return frequency;"),
    ("rotary: factors of the file not used", "src/nn/rotary.c", "divisors ? frequency / divisors[pair] : frequency",
     "divisors ? frequency : frequency"),
    ("rotary: the base of another model", "src/nn/rotary.c", "pow(rotary->base,", "pow(0 * rotary->base + 10000,"),
    ("rotary: keys stay", "src/model/forward.c", "stride, c->heads + c->kv_heads, c->head_width);",
     "stride, c->heads, c->head_width);"),
    ("rotary: GGUF pairs as in safetensors", "src/model/architecture.c", ".gguf_rotary_layout = SS_ROTARY_INTERLEAVED",
     ".gguf_rotary_layout = SS_ROTARY_HALF"),
    # attention
    ("attention: no causal mask", "src/nn/rows.h", "const size_t end = causal ? query + 1 : tokens;",
     "const size_t end = tokens;"),
    ("attention: always a causal mask", "src/nn/rows.h", "const size_t end = causal ? query + 1 : tokens;",
     "const size_t end = query + 1;"),
    ("attention: scores without the scale", "src/nn/attention.c", "(float)a->scale, a->q", "0.5f, a->q"),
    ("attention: groups interleaved", "src/nn/attention.c", "const size_t kv_head = head / (a->heads / a->kv_heads);",
     "const size_t kv_head = head % a->kv_heads;"),
    ("attention: masked keys keep old weights", "src/nn/attention.c",
     "memset(weights + end, 0, (keys - end) * sizeof *weights);",
     "for (size_t i = end; i < keys; i++) weights[i] = 0.01f;"),
    ("attention: output not divided by the total", "src/nn/attention.c", "const float scale = (float)(1 / total);",
     "const float scale = (float)(1 / (total * 0 + 1));"),
    ("attention: later blocks see block 0", "src/nn/attention.c", "a->q + query * a->stride + head * width",
     "a->q + (query ? 0 : query) * a->stride + head * width"),
    ("softmax: last lanes a thousandth short", "src/math/softmax_simd.c",
     "vf w = vf_exp(vf_load_tail(scores + i, n - i, -INFINITY) - top);",
     "vf w = 0.999f * vf_exp(vf_load_tail(scores + i, n - i, -INFINITY) - top);"),
    # the layer
    ("layer: attention replaces the stream", "src/model/forward.c", "w->attn_out_bias, r->mix, tokens, r->x, SS_LINEAR_ADD",
     "w->attn_out_bias, r->mix, tokens, r->x, SS_LINEAR_STORE"),
    ("layer: feed-forward replaces the stream", "src/model/forward.c", "w->down_bias, hidden, rows, x, SS_LINEAR_ADD",
     "w->down_bias, hidden, rows, x, SS_LINEAR_STORE"),
    ("layer: no bias of queries, keys, values", "src/model/forward.c", "linear(r, &w->qkv, w->qkv_bias,",
     "linear(r, &w->qkv, NULL,"),
    ("layer: no bias after attention", "src/model/forward.c", "&w->attn_out, w->attn_out_bias,", "&w->attn_out, NULL,"),
    ("layer: no bias of up and gate", "src/model/forward.c", "&w->up, w->up_bias,", "&w->up, NULL,"),
    ("layer: no bias of down", "src/model/forward.c", "&w->down, w->down_bias,", "&w->down, NULL,"),
    ("layer: feed-forward reads the attention norm", "src/model/forward.c", "normalise(r, &w->ffn_norm, x, rows, r->normed);",
     "normalise(r, &w->attn_norm, x, rows, r->normed);"),
    ("layer: the attention norm again after BERT's feed-forward", "src/model/forward.c", "normalise(r, &w->ffn_norm, x, rows, x);",
     "normalise(r, &w->attn_norm, x, rows, x);"),
    # weights as files hold them
    ("file: Conv1D not transposed", "src/model/plan.c", "return row->conv1d && m->input->naming == SS_NAMING_HF;",
     "return row->conv1d && m->input->naming != SS_NAMING_HF;"),
    ("file: Q4_0 about 7", "src/math/types_loops.h", "f16_at(source), 8, 0, out + i", "f16_at(source), 7, 0, out + i"),
    ("file: Q4_1 without its minimum", "src/math/types_loops.h", "f16_at(source), 0, f16_at(source + 2), out + i",
     "f16_at(source), 0, 0, out + i"),
    ("file: Q4 nibbles side by side", "src/math/types_loops.h", "out[i + BLOCK / 2] = scale", "out[BLOCK - 1 - i] = scale"),
    ("file: Q8_0 unsigned", "src/math/types_loops.h", "scale * (WIDE)(int8_t)source[2 + j]", "scale * (WIDE)source[2 + j]"),
    ("file: head always tied", "src/model/load.c", "model->config.tied ? SS_ROLE_TOKEN_EMBED : SS_ROLE_HEAD",
     "1 ? SS_ROLE_TOKEN_EMBED : SS_ROLE_HEAD"),
    # measures
    ("measure: largest score of the last row only", "src/probe/scale_probe.c",
     "head->max_logit = larger(head->max_logit, event->max[h * probe->tokens + t]);",
     "head->max_logit = event->max[h * probe->tokens + t];"),
    ("measure: scale of keys forgotten", "src/probe/values_simd.c", "unit = dot / (query_rms * vd_from(key_rms + j))",
     "unit = dot / (query_rms + 0 * vd_from(key_rms + j))"),
    ("measure: previous token is this one", "src/probe/keys_probe.c", "add_key(&sums->prev_token, block, r, query - 1)",
     "add_key(&sums->prev_token, block, r, query)"),
    ("measure: induction without the step", "src/probe/keys_probe.c", "(size_t)probe->previous[query] + 1",
     "(size_t)probe->previous[query]"),
    ("measure: sink's share without its weight", "src/probe/keys_probe.c",
     "weight_of(event, head, t, dot) * sqrt(value_square)", "sqrt(value_square)"),
    ("measure: sink among all keys", "src/probe/keys_probe.c", "if (views[j] < most / 4 + (most % 4 != 0)) views[j] = 0;",
     ";"),
    ("measure: likelihood of this token", "src/probe/output_probe.c", "probe->ids[token + 1]", "probe->ids[token]"),
    ("measure: block norm of the sum", "src/measure/massive.c", "sqrt(largest_square / (double)s->width)",
     "sqrt(largest_square)"),
    ("measure: Frobenius norm without its cross term", "src/measure/row.c", "square * (1 + p * p + square) - 2 * cube",
     "square * (1 + p * p + square)"),
]


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)


def python_with_numpy():
    venv = ROOT / "build/venv/bin/python"
    return venv if venv.exists() else sys.executable


def copy_sources():
    """A copy of what the program is built from, as the work tree has it; unchanged files keep their times."""
    names = run("git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", *COPIED).stdout.split()
    for name in names:
        source, target = ROOT / name, TREE / name
        if source.is_file() and not (target.exists() and target.read_bytes() == source.read_bytes()):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    for target in TREE.rglob("*"):
        if target.is_file() and not (ROOT / target.relative_to(TREE)).exists():
            target.unlink()


def build():
    """'' or what the compiler said."""
    made = run("cmake", "--build", BUILD, "--target", "softscope")
    return "" if made.returncode == 0 else made.stdout[-2000:] + made.stderr


def killers():
    """Names of the fixtures that are wrong with the program as built."""
    tested = run(python_with_numpy(), ROOT / "tests/golden/run_goldens.py", BUILD / "softscope", "fixtures")
    if tested.returncode not in (0, 1):
        sys.exit(f"mutants: the golden tests do not run\n{tested.stdout}{tested.stderr}")
    return [line.split(":")[0] for line in tested.stdout.splitlines() if line.endswith(" wrong")]


def try_mutant(file, right, wrong):
    """(is it as it should be, what happened)"""
    path = TREE / file
    source = path.read_text()
    if source.count(right) != 1:
        return False, f"no longer applies: the text occurs {source.count(right)} times in {file}"
    path.write_text(source.replace(right, wrong))
    try:
        trouble = build()
        if trouble:
            return False, f"does not build: {trouble}"
        found = killers()
    finally:
        path.write_text(source)
    return bool(found), f"noticed by {len(found)}: {', '.join(found[:4])}" if found else "SURVIVED"


def main():
    words = sys.argv[1:]
    chosen = [mutant for mutant in MUTANTS if not words or any(word in mutant[0] for word in words)]
    copy_sources()
    made = run("cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DSOFTSCOPE_TESTS=OFF")
    trouble = made.stderr if made.returncode else build()
    if trouble:
        sys.exit(f"mutants: the sources do not build as they are\n{trouble}")
    if killers():
        sys.exit("mutants: the golden tests fail as it is")
    failed = 0
    for name, *change in chosen:
        good, what = try_mutant(*change)
        failed += not good
        print(f"{'ok  ' if good else 'FAIL'} {name}: {what}", flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
