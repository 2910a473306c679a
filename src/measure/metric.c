/* The metric table. To add a metric: one row here, and the probe that fills it. */
#include "measure/metric.h"

#include <math.h>
#include <string.h>

#define EMADI "Emadi, Exact attention sensitivity"
#define VARRE "Varre et al., Gradient flow polarizes softmax outputs"
#define SUN   "Sun et al., Massive activations"
#define GU    "Gu et al., When attention sink emerges"

/* name, label, unit, min, max, direction, scope, definition, source */
static const ss_metric metrics[] = {
    {"theta", "theta", "", 0, 1, SS_BAD_LOW, SS_SCOPE_ROW,
     "How far attention can move: if no logit moves by more than eps, the row moves by at most eps/2 x theta "
     "in total variation. 1 when the row splits into two equal halves, 0 when it is one-hot.",
     EMADI ", Theorem 3.2"},
    {"theta_cert", "theta, greedy bound", "", 0, 1, SS_BAD_LOW, SS_SCOPE_ROW,
     "A lower bound of theta from the sorted prefix sum nearest one half.", EMADI ", appendix D.2"},
    {"entropy", "entropy", "nats", 0, NAN, SS_BAD_NONE, SS_SCOPE_ROW, "-sum p log p: how spread the row is.",
     EMADI ", section 5"},
    {"entropy_norm", "entropy / log n", "", 0, 1, SS_BAD_NONE, SS_SCOPE_ROW,
     "Entropy over its largest value: 1 for a uniform row, 0 for a one-hot row.", EMADI ", section 5"},
    {"p_max", "largest weight", "", 0, 1, SS_BAD_HIGH, SS_SCOPE_ROW, "The weight of the strongest key.",
     EMADI ", section 5"},
    {"jac_inf_1", "Jacobian norm, inf to 1", "", 0, 1, SS_BAD_NONE, SS_SCOPE_ROW,
     "The exact norm of the softmax Jacobian from l_inf to l_1: theta over the temperature.",
     EMADI ", Theorem 3.2"},
    {"jac_2", "Jacobian norm, 2", "", 0, 0.5, SS_BAD_NONE, SS_SCOPE_ROW,
     "The largest eigenvalue of diag(p) - p p^T, over the temperature.", "Gao and Pavel; secular equation"},
    {"jac_inf", "Jacobian norm, inf", "", 0, 0.5, SS_BAD_NONE, SS_SCOPE_ROW,
     "The largest 2 p (1 - p), over the temperature; the l_1 norm is the same.",
     "Nair, Softmax is 1/2-Lipschitz"},
    {"jac_frob", "Jacobian norm, Frobenius", "", 0, NAN, SS_BAD_NONE, SS_SCOPE_ROW,
     "Root of the sum of squares of diag(p) - p p^T, over the temperature.", "definition"},
    {"theta_exact_share", "theta proved", "", 0, 1, SS_BAD_LOW, SS_SCOPE_HEAD,
     "Share of rows whose theta is proved exact.", "this program"},
    {"saturated", "saturated rows", "rows", 0, NAN, SS_BAD_HIGH, SS_SCOPE_HEAD,
     "Rows with theta <= 0.01: gradients through them are damped at least a hundredfold.", EMADI},
    {"saturated_share", "saturated share", "", 0, 1, SS_BAD_HIGH, SS_SCOPE_HEAD,
     "Share of rows with theta <= 0.01.", EMADI},
    {"scale_driven", "scale-driven rows", "rows", 0, NAN, SS_BAD_HIGH, SS_SCOPE_HEAD,
     "Rows with p_max >= .99 that fall to <= .5 when queries and keys are scaled to root-mean-square 1.",
     "softmax saturation note"},
    {"genuine", "genuinely peaked rows", "rows", 0, NAN, SS_BAD_NONE, SS_SCOPE_HEAD,
     "Rows with p_max >= .99 that stay peaked when queries and keys are scaled to root-mean-square 1.",
     "softmax saturation note"},
    {"max_logit", "largest logit", "", NAN, NAN, SS_BAD_HIGH, SS_SCOPE_HEAD,
     "The largest allowed attention score, the quantity that clipping methods watch.", "QK-clip"},
    {"max_logit_raw", "largest logit before the cap", "", NAN, NAN, SS_BAD_HIGH, SS_SCOPE_HEAD,
     "The largest allowed attention score before the soft cap.", "QK-clip"},
    {"first_key", "weight on the first key", "", 0, 1, SS_BAD_NONE, SS_SCOPE_HEAD,
     "Mean weight on key 0, over rows with two or more keys.", GU},
    {"sink_rate", "sink on the first key", "", 0, 1, SS_BAD_NONE, SS_SCOPE_HEAD,
     "1 if the mean weight on key 0 exceeds the threshold (0.3 unless changed), over rows with two or more "
     "keys.",
     GU},
    {"sink_key", "strongest key", "key", 0, NAN, SS_BAD_NONE, SS_SCOPE_HEAD,
     "The key with the largest mean weight over the rows that may see it; keys that only a quarter or fewer "
     "of the rows may see do not count.",
     "this program"},
    {"sink_weight", "weight on the strongest key", "", 0, 1, SS_BAD_NONE, SS_SCOPE_HEAD,
     "Mean weight on the strongest key over the rows that may see it.", "this program"},
    {"sink_value_share", "output from the sink", "", 0, NAN, SS_BAD_NONE, SS_SCOPE_HEAD,
     "Mean of the norm of what the strongest key's value adds over the norm of the head's output: near 0 the "
     "sink is a no-op, large it broadcasts.",
     GU},
    {"sparsity", "sparsity", "", 0, 1, SS_BAD_NONE, SS_SCOPE_HEAD,
     "Mean over rows of the largest weight over the total weight.", VARRE ", Figure 7"},
    {"dominance", "dominance", "", 0, 1, SS_BAD_NONE, SS_SCOPE_HEAD,
     "Sparsity of the first token's row (CLS).", VARRE ", Figure 6"},
    {"prev_token", "weight on the previous token", "", 0, 1, SS_BAD_NONE, SS_SCOPE_HEAD,
     "Mean weight on key t - 1.", "induction-head literature"},
    {"same_token", "weight on the token itself", "", 0, 1, SS_BAD_NONE, SS_SCOPE_HEAD,
     "Mean weight on the diagonal.", "induction-head literature"},
    {"induction", "induction", "", 0, 1, SS_BAD_NONE, SS_SCOPE_HEAD,
     "Mean weight on the key after the previous occurrence of the current token, over rows that have one.",
     VARRE ", section 4"},
    {"block_inf_rms", "hidden state norm", "", 0, NAN, SS_BAD_HIGH, SS_SCOPE_HIDDEN,
     "The largest root-mean-square magnitude of any token's hidden state.", EMADI ", section 2.2"},
    {"max_abs", "largest magnitude", "", 0, NAN, SS_BAD_HIGH, SS_SCOPE_HIDDEN,
     "The largest abs(x) of the hidden state.", SUN},
    {"median_abs", "median magnitude", "", 0, NAN, SS_BAD_NONE, SS_SCOPE_HIDDEN,
     "The median abs(x) of the hidden state.", SUN},
    {"massive", "massive activations", "values", 0, NAN, SS_BAD_NONE, SS_SCOPE_HIDDEN,
     "Values with abs(x) > 100 and at least 1000 times the median abs(x) of their hidden state.", SUN},
    {"nll_mean", "mean loss", "nats", 0, NAN, SS_BAD_HIGH, SS_SCOPE_OUTPUT,
     "Mean negative log-likelihood of the next token.", "definition"},
    {"perplexity", "perplexity", "", 1, NAN, SS_BAD_HIGH, SS_SCOPE_OUTPUT, "exp of the mean loss.",
     "definition"},
    {"confident_correct", "confident and right", "tokens", 0, NAN, SS_BAD_NONE, SS_SCOPE_OUTPUT,
     "Positions with p_max > 0.9 whose strongest token is the next one.", "softmax saturation note"},
    {"confident_wrong", "confident and wrong", "tokens", 0, NAN, SS_BAD_HIGH, SS_SCOPE_OUTPUT,
     "Positions with p_max > 0.9 whose strongest token is not the next one.", "softmax saturation note"},
    {"numeric", "numerically saturated", "tokens", 0, NAN, SS_BAD_HIGH, SS_SCOPE_OUTPUT,
     "Positions whose p_max rounds to 1 in float32, so that the gradient of a correct target is exactly 0.",
     "softmax saturation note"},
};

enum { METRICS = sizeof metrics / sizeof *metrics };

const ss_metric *ss_metrics(size_t *count) {
    *count = METRICS;
    return metrics;
}

const ss_metric *ss_metric_find(const char *name) {
    for (size_t i = 0; i < METRICS; i++)
        if (strcmp(metrics[i].name, name) == 0) return &metrics[i];
    return NULL;
}

const char *ss_scope_name(ss_metric_scope scope) {
    static const char *const names[] = {
#define SS_SCOPE_NAME(scope_, name) [scope_] = name,
        SS_SCOPE_LIST(SS_SCOPE_NAME)
#undef SS_SCOPE_NAME
    };
    return names[scope];
}

const char *ss_direction_name(ss_metric_direction direction) {
    static const char *const names[] = {[SS_BAD_NONE] = "none", [SS_BAD_LOW] = "low", [SS_BAD_HIGH] = "high"};
    return names[direction];
}
