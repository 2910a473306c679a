/* The metric table: measure/metric.h. Relies on: nothing. */
#include "measure/metric.h"

#include <math.h>
#include <string.h>

#define EMADI   "Emadi, Exact Attention Sensitivity and the Geometry of Transformer Stability"
#define GU      "Gu et al., When Attention Sink Emerges in Language Models"
#define SUN     "Sun et al., Massive Activations in Large Language Models"
#define VARRE   "Varre et al., Gradient flow polarizes softmax outputs"
#define SATURAT "Softmax saturation"
#define OLSSON  "Olsson et al., In-context Learning and Induction Heads"
#define COMMON  "common usage"

static const ss_metric metrics[] = {
    /* one row of attention, or one next-token distribution */
    {"entropy", "entropy", "nats", 0, INFINITY, SS_WORSE_LOW, SS_SCOPE_ROW,
     "-sum of p log p: how many keys a row spreads over, as a logarithm", EMADI ", section 5"},
    {"entropy_norm", "normalised entropy", "", 0, 1, SS_WORSE_LOW, SS_SCOPE_ROW,
     "entropy divided by its maximum, the logarithm of the number of keys the row may see",
     EMADI ", section 5"},
    {"p_max", "largest weight", "", 0, 1, SS_WORSE_HIGH, SS_SCOPE_ROW, "the largest weight of the row",
     EMADI ", section 5"},
    {"theta", "exact sensitivity", "", 0, 1, SS_WORSE_LOW, SS_SCOPE_ROW,
     "4 times the largest p(S) (1 - p(S)) over all sets S of keys: how evenly the row can be cut in two, and "
     "by how "
     "much it moves when its scores do",
     EMADI ", Theorem 3.2"},
    {"theta_cert", "sensitivity certificate", "", 0, 1, SS_WORSE_LOW, SS_SCOPE_ROW,
     "a lower bound of theta: the best cut among the sets of the k largest weights", EMADI ", appendix D.2"},
    {"jac_inf_1", "Jacobian norm, l_inf to l_1", "", 0, INFINITY, SS_WORSE_LOW, SS_SCOPE_ROW,
     "theta divided by the temperature: the exact norm of the softmax Jacobian from l_inf to l_1",
     EMADI ", Theorem 3.2"},
    {"jac_2", "Jacobian norm, l_2", "", 0, INFINITY, SS_WORSE_NONE, SS_SCOPE_ROW,
     "the largest eigenvalue of the softmax Jacobian", EMADI ", section 3"},
    {"jac_inf", "Jacobian norm, l_inf", "", 0, INFINITY, SS_WORSE_NONE, SS_SCOPE_ROW,
     "the largest of 2 p (1 - p), over the temperature: the norm of the softmax Jacobian in l_inf and in l_1",
     EMADI ", section 3"},
    {"jac_frob", "Jacobian norm, Frobenius", "", 0, INFINITY, SS_WORSE_NONE, SS_SCOPE_ROW,
     "the root of the sum of squares of the softmax Jacobian's entries", EMADI ", section 3"},

    /* one head */
    {"theta_exact_share", "rows with theta proved", "", 0, 1, SS_WORSE_LOW, SS_SCOPE_HEAD,
     "share of the rows whose theta is proved to double precision; the others have a bracket",
     EMADI ", Theorem 3.2"},
    {"max_logit", "largest score", "", -INFINITY, INFINITY, SS_WORSE_HIGH, SS_SCOPE_HEAD,
     "the largest score that enters the softmax", COMMON},
    {"max_logit_raw", "largest score before the cap", "", -INFINITY, INFINITY, SS_WORSE_HIGH, SS_SCOPE_HEAD,
     "the largest score before the model's soft cap", COMMON},
    {"first_key", "weight on the first key", "", 0, 1, SS_WORSE_HIGH, SS_SCOPE_HEAD, "mean weight on key 0",
     GU},
    {"sink_rate", "sink", "", 0, 1, SS_WORSE_HIGH, SS_SCOPE_HEAD,
     "1 for a head whose mean weight on key 0 exceeds the sink threshold, else 0; over many heads, their "
     "share",
     GU},
    {"sink_key", "sink key", "", 0, INFINITY, SS_WORSE_NONE, SS_SCOPE_HEAD,
     "the key with the largest mean weight over the rows that may see it", GU},
    {"sink_weight", "weight on the sink key", "", 0, 1, SS_WORSE_HIGH, SS_SCOPE_HEAD,
     "mean weight on the sink key over the rows that may see it", GU},
    {"sink_value_share", "share of the sink in the output", "", 0, INFINITY, SS_WORSE_NONE, SS_SCOPE_HEAD,
     "mean over rows of the norm of what the sink key adds to the head's output, over the norm of that "
     "output",
     GU},
    {"sparsity", "sparsity", "", 0, 1, SS_WORSE_NONE, SS_SCOPE_HEAD,
     "mean over rows of the largest weight over the total weight", VARRE ", Figure 7"},
    {"dominance", "dominance", "", 0, 1, SS_WORSE_NONE, SS_SCOPE_HEAD,
     "weight of the strongest key in the first row, that of the classification token", VARRE ", Figure 7"},
    {"prev_token", "weight on the previous token", "", 0, 1, SS_WORSE_NONE, SS_SCOPE_HEAD,
     "mean weight on the key before the query", OLSSON},
    {"same_token", "weight on the token itself", "", 0, 1, SS_WORSE_NONE, SS_SCOPE_HEAD,
     "mean weight on the query's own key", COMMON},
    {"induction", "induction", "", 0, 1, SS_WORSE_NONE, SS_SCOPE_HEAD,
     "mean weight on the key after the previous occurrence of the query's token, over rows that have one",
     OLSSON},
    {"saturated", "saturated rows", "rows", 0, INFINITY, SS_WORSE_HIGH, SS_SCOPE_HEAD,
     "rows with theta at most 0.01, through which gradients are attenuated at least a hundredfold",
     EMADI ", Corollary 3.4"},
    {"saturated_share", "share of saturated rows", "", 0, 1, SS_WORSE_HIGH, SS_SCOPE_HEAD,
     "saturated rows over measured rows", EMADI ", Corollary 3.4"},
    {"scale_driven", "rows saturated by scale", "rows", 0, INFINITY, SS_WORSE_HIGH, SS_SCOPE_HEAD,
     "rows with a largest weight of at least 0.99 that falls to at most 0.5 when queries and keys are scaled "
     "to root "
     "mean square 1",
     SATURAT},
    {"genuine", "rows saturated by choice", "rows", 0, INFINITY, SS_WORSE_NONE, SS_SCOPE_HEAD,
     "rows with a largest weight of at least 0.99 that stays above 0.5 when queries and keys are scaled to "
     "root mean "
     "square 1",
     SATURAT},

    /* one hidden state */
    {"block_inf_rms", "block-inf/RMS norm", "", 0, INFINITY, SS_WORSE_HIGH, SS_SCOPE_HIDDEN,
     "the largest over tokens of the l_2 norm of a token's vector over the root of its width",
     EMADI ", section 2.2"},
    {"max_abs", "largest magnitude", "", 0, INFINITY, SS_WORSE_HIGH, SS_SCOPE_HIDDEN,
     "the largest absolute entry of the hidden state", SUN},
    {"median_abs", "median magnitude", "", 0, INFINITY, SS_WORSE_NONE, SS_SCOPE_HIDDEN,
     "the median of the absolute entries of the hidden state", SUN},

    /* the output layer */
    {"nll", "loss of a token", "nats", 0, INFINITY, SS_WORSE_HIGH, SS_SCOPE_OUTPUT,
     "negative log-likelihood of the token that followed", COMMON},
    {"nll_mean", "loss", "nats", 0, INFINITY, SS_WORSE_HIGH, SS_SCOPE_OUTPUT,
     "mean negative log-likelihood of the tokens that followed", COMMON},
    {"perplexity", "perplexity", "", 1, INFINITY, SS_WORSE_HIGH, SS_SCOPE_OUTPUT, "exp of the loss", COMMON},
    {"target_p", "probability of the target", "", 0, 1, SS_WORSE_LOW, SS_SCOPE_OUTPUT,
     "probability of the token that followed", SATURAT},
    {"confident_correct", "confident and right", "rows", 0, INFINITY, SS_WORSE_NONE, SS_SCOPE_OUTPUT,
     "rows with a largest probability above 0.9, on the token that followed", SATURAT},
    {"confident_wrong", "confident and wrong", "rows", 0, INFINITY, SS_WORSE_HIGH, SS_SCOPE_OUTPUT,
     "rows with a largest probability above 0.9, on another token", SATURAT},
    {"numeric", "numerically saturated", "rows", 0, INFINITY, SS_WORSE_HIGH, SS_SCOPE_OUTPUT,
     "rows whose largest probability rounds to 1 in float32, so that the gradient of a right prediction "
     "vanishes",
     SATURAT},
};

const ss_metric *ss_metrics(size_t *count) {
    *count = sizeof metrics / sizeof *metrics;
    return metrics;
}

const ss_metric *ss_metric_find(const char *name) {
    for (size_t k = 0; k < sizeof metrics / sizeof *metrics; k++)
        if (strcmp(metrics[k].name, name) == 0) return &metrics[k];
    return NULL;
}

const char *ss_direction_name(ss_direction worse) {
    static const char *const names[] = {
        [SS_WORSE_NONE] = "none", [SS_WORSE_LOW] = "low", [SS_WORSE_HIGH] = "high"};
    return names[worse];
}

const char *ss_scope_name(ss_scope scope) {
    static const char *const names[] = {[SS_SCOPE_ROW] = "row",
                                        [SS_SCOPE_HEAD] = "head",
                                        [SS_SCOPE_HIDDEN] = "hidden",
                                        [SS_SCOPE_OUTPUT] = "output"};
    return names[scope];
}
