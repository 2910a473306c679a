/* The hidden and the health probe: sizes, massive activations, the first bad value and whose fault it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/health_probe.h"
#include "probe/scan.h"
#include "support/json_path.h"
#include "support/nn_ref.h"
#include "support/staged_pass.h"

#include <math.h>
#include <stdlib.h>

enum { TOKENS = 6, LAYERS = 4, WIDTH = 16 };

static ss_config hidden_config(void) {
    ss_config config = staged_config(2, 2, true); /* width 16 */
    config.layers = LAYERS;
    config.final_norm = config.has_head = true;
    return config;
}

/* Hidden states of one run: [0] the embedding, [1 + l] what layer l leaves, [LAYERS + 1] the final norm. */
typedef struct states {
    float x[LAYERS + 2][TOKENS][WIDTH];
} states;

static void fill(states *s, float value) {
    for (size_t i = 0; i < sizeof s->x / sizeof(float); i++) (&s->x[0][0][0])[i] = value;
}

static void show(const staged_pass *stage, const ss_probe *probe, ss_site site, size_t layer,
                 const float *x) {
    const ss_hidden_event event = {
        .pass = &stage->pass, .site = site, .layer = layer, .width = WIDTH, .rows = TOKENS, .x = x};
    if (probe->hidden && (probe->sites & SS_SITE_BIT(site))) probe->hidden(probe->context, &event);
}

static void show_all(const staged_pass *stage, const ss_probe *probe, const states *s) {
    show(stage, probe, SS_SITE_EMBEDDING, 0, &s->x[0][0][0]);
    for (size_t l = 0; l < LAYERS; l++) show(stage, probe, SS_SITE_BLOCK, l, &s->x[1 + l][0][0]);
    show(stage, probe, SS_SITE_FINAL_NORM, 0, &s->x[LAYERS + 1][0][0]);
}

/* Run both probes over the states; *first is what health found. */
static ss_result *measure(const states *s, int workers, bool *found, ss_bad_value *first) {
    ss_config config = hidden_config();
    staged_pass *stage = staged_pass_new(&config, TOKENS, workers, 1);
    const ss_probe_setup setup = staged_setup(stage);
    uint32_t bits;
    ss_probe_set *set;
    ss_result *result;
    assert_int_equal(ss_probes_parse("hidden,health", &bits, NULL), SS_OK);
    assert_int_equal(ss_probe_set_create(&setup, bits, &set, NULL), SS_OK);
    assert_int_equal(ss_result_create(&result, "test", NULL), SS_OK);
    for (size_t i = 0; i < ss_probe_set_count(set); i++) show_all(stage, ss_probe_set_list(set)[i], s);
    *found = ss_health_probe_first(ss_probe_set_find(set, "health"), first);
    assert_int_equal(ss_probe_set_report(set, result, NULL), SS_OK);
    ss_probe_set_free(set);
    staged_pass_free(stage);
    return result;
}

static void a_massive_activation_is_named_and_a_smaller_one_is_not(void **state) {
    (void)state;
    for (int massive = 0; massive < 2; massive++) {
        states s;
        bool found;
        ss_bad_value first;
        fill(&s, .1f);
        s.x[2][0][3] = massive ? -150 : 90;
        ss_result *result = measure(&s, 2, &found, &first);
        assert_false(found);
        json_t *list = json_at(result->root, "layers.1.hidden.massive");
        assert_int_equal(json_array_size(list), massive);
        if (massive) {
            assert_true(number_at(list, "0.token") == 0);
            assert_true(number_at(list, "0.dimension") == 3);
            assert_true(number_at(list, "0.value") == -150);
        }
        assert_int_equal(json_array_size(json_at(result->root, "layers.0.hidden.massive")), 0);
        assert_true(number_at(result->root, "layers.1.hidden.max_abs") == (massive ? 150 : 90));
        assert_true(number_at(result->root, "layers.1.hidden.max_dimension") == 3);
        ss_result_free(result);
    }
}

static void large_values_of_a_large_state_are_not_massive(void **state) {
    (void)state;
    states s;
    bool found;
    ss_bad_value first;
    fill(&s, 1);
    s.x[0][2][5] = 999; /* above 100, below 1000 medians */
    ss_result *result = measure(&s, 1, &found, &first);
    assert_int_equal(json_array_size(json_at(result->root, "embedding.massive")), 0);
    ss_result_free(result);
}

static void many_massive_activations_are_counted_and_the_largest_listed(void **state) {
    (void)state;
    states s;
    bool found;
    ss_bad_value first;
    fill(&s, 0);
    for (size_t i = 0; i < 40; i++) s.x[0][i / 16][i % 16] = 200 + (float)i;
    ss_result *result = measure(&s, 1, &found, &first);
    assert_true(number_at(result->root, "embedding.massive_count") == 40);
    assert_int_equal(json_array_size(json_at(result->root, "embedding.massive")), 32);
    assert_true(number_at(result->root, "embedding.massive.0.value") == 239);
    ss_result_free(result);
}

static int by_size(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void sizes_agree_with_plain_loops(void **state) {
    (void)state;
    states s;
    bool found;
    ss_bad_value first;
    ref_fill(&s.x[0][0][0], sizeof s.x / sizeof(float), 5, 3);
    ss_result *result = measure(&s, 2, &found, &first);
    double norm = 0;
    float magnitudes[TOKENS * WIDTH];
    for (size_t t = 0; t < TOKENS; t++) {
        double square = 0;
        for (size_t d = 0; d < WIDTH; d++) {
            square += (double)s.x[LAYERS + 1][t][d] * s.x[LAYERS + 1][t][d];
            magnitudes[t * WIDTH + d] = fabsf(s.x[LAYERS + 1][t][d]);
        }
        norm = fmax(norm, sqrt(square / WIDTH));
    }
    qsort(magnitudes, TOKENS * WIDTH, sizeof *magnitudes, by_size);
    double median = ((double)magnitudes[TOKENS * WIDTH / 2 - 1] + magnitudes[TOKENS * WIDTH / 2]) / 2;
    assert_true(fabs(number_at(result->root, "final.block_inf_rms") - norm) < 1e-9);
    assert_true(number_at(result->root, "final.median_abs") == median);
    assert_true(number_at(result->root, "final.max_abs") == magnitudes[TOKENS * WIDTH - 1]);
    ss_result_free(result);
}

/* ---- the first bad value ---- */

static void the_first_bad_value_is_named_and_what_follows_is_downstream(void **state) {
    (void)state;
    states s;
    bool found;
    ss_bad_value first;
    fill(&s, 1);
    s.x[3][4][7] = NAN; /* layer 2 */
    s.x[4][0][0] = s.x[4][5][1] = INFINITY;
    s.x[5][0][0] = NAN;
    ss_result *result = measure(&s, 2, &found, &first);
    assert_true(found);
    assert_int_equal(first.site, SS_SITE_BLOCK);
    assert_int_equal(first.layer, 2);
    assert_int_equal(first.token, 4);
    assert_int_equal(first.dimension, 7);
    assert_true(json_is_null(json_at(result->root, "layers.1.hidden.non_finite")));
    assert_true(json_is_false(json_at(result->root, "layers.2.hidden.non_finite.downstream")));
    assert_true(json_is_true(json_at(result->root, "layers.3.hidden.non_finite.downstream")));
    assert_true(json_is_true(json_at(result->root, "final.non_finite.downstream")));
    assert_true(json_is_null(json_at(result->root, "layers.2.hidden.block_inf_rms")));
    assert_true(json_is_string(json_at(result->root, "layers.2.hidden.absent.block_inf_rms")));
    ss_result_free(result);
}

/* The weights of two layers' feed-forward parts; one of them is bad. */
static ss_tensor_table bad_mlp(ss_tensor tensors[4]) {
    static const ss_role roles[] = {SS_ROLE_UP, SS_ROLE_DOWN};
    static const char *const names[] = {"1.up", "1.down", "2.up", "2.down"};
    for (size_t i = 0; i < 4; i++)
        tensors[i] =
            (ss_tensor){.name = names[i], .role = roles[i % 2], .layer = 1 + i / 2, .first_bad = SS_NO_BAD};
    return (ss_tensor_table){.tensors = tensors, .count = 4};
}

static void the_tensor_that_brought_it_in_is_found(void **state) {
    (void)state;
    ss_tensor tensors[4];
    ss_tensor_table table = bad_mlp(tensors);
    ss_bad_value first = {.site = SS_SITE_BLOCK, .layer = 2};
    assert_null(ss_health_culprit(&table, &first));
    tensors[1].first_bad = 5; /* another layer's does not count */
    assert_null(ss_health_culprit(&table, &first));
    tensors[2].first_bad = 77;
    assert_ptr_equal(ss_health_culprit(&table, &first), &tensors[2]);
    tensors[3].first_bad = 9; /* the weight of that very operator comes before others of its layer */
    assert_ptr_equal(ss_health_culprit(&table, &first), &tensors[3]);
    first.site = SS_SITE_FFN_HIDDEN;
    assert_ptr_equal(ss_health_culprit(&table, &first), &tensors[2]);
}

static void blame_goes_into_the_document(void **state) {
    (void)state;
    ss_config config = hidden_config();
    ss_tensor tensors[4];
    bad_mlp(tensors);
    tensors[3].first_bad = 77;
    ss_result *result;
    assert_int_equal(ss_result_create(&result, "test", NULL), SS_OK);
    const ss_report report = {.result = result, .config = &config};
    const ss_bad_value first = {.site = SS_SITE_FFN_HIDDEN, .layer = 2};
    ss_health_blame(&report, &first, &tensors[3]);
    assert_string_equal(json_string_value(json_at(result->root, "layers.0.hidden.non_finite.tensor")),
                        "2.down");
    assert_true(number_at(result->root, "layers.0.hidden.non_finite.index") == 77);
    ss_health_blame(&report, &first, NULL);
    assert_true(json_is_string(json_at(result->root, "layers.0.hidden.non_finite.absent.tensor")));
    ss_result_free(result);
}

static void every_site_is_looked_at_when_asked(void **state) {
    (void)state;
    ss_config config = hidden_config();
    staged_pass *stage = staged_pass_new(&config, TOKENS, 1, 1);
    ss_probe_setup setup = staged_setup(stage);
    setup.options.all_sites = true;
    ss_health_probe *health;
    assert_int_equal(ss_health_probe_create(&setup, &health, NULL), SS_OK);
    const ss_probe probe = ss_health_probe_subscribe(health);
    float x[TOKENS][WIDTH] = {{0}};
    x[1][3] = -INFINITY;
    const ss_hidden_event part = {.pass = &stage->pass,
                                  .site = SS_SITE_FFN_HIDDEN,
                                  .layer = 1,
                                  .width = WIDTH,
                                  .first = 3,
                                  .rows = 2,
                                  .x = &x[0][0]}; /* tokens 3 and 4 */
    ss_bad_value first;
    assert_true(probe.sites & SS_SITE_BIT(SS_SITE_FFN_HIDDEN));
    probe.hidden(probe.context, &part);
    assert_true(ss_health_probe_first(health, &first));
    assert_int_equal(first.token, 4);
    assert_int_equal(first.dimension, 3);
    assert_true(first.value == -INFINITY);
    ss_health_probe_free(health);
    staged_pass_free(stage);
}

/* ---- the kernels ---- */

static void the_scan_agrees_with_a_loop_at_every_level(void **state) {
    (void)state;
    float x[200];
    for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++)
        for (size_t count = 0; count <= 200; count++) {
            ref_fill(x, 200, 3, count);
            assert_true(ss_all_finite(isa, x, count));
            for (size_t i = 0; i < 200; i += 1 + i / 20) {
                float kept = x[i];
                x[i] = i % 2 ? NAN : -INFINITY;
                assert_int_equal(ss_all_finite(isa, x, count), i >= count);
                x[i] = kept;
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_massive_activation_is_named_and_a_smaller_one_is_not),
        cmocka_unit_test(large_values_of_a_large_state_are_not_massive),
        cmocka_unit_test(many_massive_activations_are_counted_and_the_largest_listed),
        cmocka_unit_test(sizes_agree_with_plain_loops),
        cmocka_unit_test(the_first_bad_value_is_named_and_what_follows_is_downstream),
        cmocka_unit_test(the_tensor_that_brought_it_in_is_found),
        cmocka_unit_test(blame_goes_into_the_document),
        cmocka_unit_test(every_site_is_looked_at_when_asked),
        cmocka_unit_test(the_scan_agrees_with_a_loop_at_every_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
