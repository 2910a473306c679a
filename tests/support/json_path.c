#include "support/json_path.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

json_t *json_at(json_t *root, const char *path) {
    char copy[256];
    if (strlen(path) >= sizeof copy) return NULL;
    strcpy(copy, path);
    char *rest = NULL;
    for (char *word = strtok_r(copy, ".", &rest); word && root; word = strtok_r(NULL, ".", &rest))
        root =
            json_is_array(root) ? json_array_get(root, strtoul(word, NULL, 10)) : json_object_get(root, word);
    return root;
}

double number_at(json_t *root, const char *path) {
    json_t *node = json_at(root, path);
    return json_is_number(node) ? json_number_value(node) : NAN;
}

static void assert_objects_near(const json_t *a, const json_t *b, double tolerance) {
    const char *key;
    json_t *value;
    assert_int_equal(json_object_size(a), json_object_size(b));
    json_object_foreach((json_t *)(uintptr_t)a, key, value) {
        assert_non_null(json_object_get(b, key));
        assert_json_near(value, json_object_get(b, key), tolerance);
    }
}

static void assert_arrays_near(const json_t *a, const json_t *b, double tolerance) {
    assert_int_equal(json_array_size(a), json_array_size(b));
    for (size_t i = 0; i < json_array_size(a); i++)
        assert_json_near(json_array_get(a, i), json_array_get(b, i), tolerance);
}

void assert_json_near(const json_t *a, const json_t *b, double tolerance) {
    if (json_is_number(a) && json_is_number(b)) {
        double x = json_number_value(a), y = json_number_value(b);
        double size = fmax(1, fmax(fabs(x), fabs(y)));
        if (fabs(x - y) > tolerance * size) fail_msg("%.17g is not near %.17g", x, y);
        return;
    }
    assert_int_equal(json_typeof(a), json_typeof(b));
    if (json_is_object(a))
        assert_objects_near(a, b, tolerance);
    else if (json_is_array(a))
        assert_arrays_near(a, b, tolerance);
    else
        assert_true(json_equal(a, b));
}
