/* Reading and comparing JSON documents in tests. */
#ifndef SS_TESTS_JSON_PATH_H
#define SS_TESTS_JSON_PATH_H

#include <jansson.h>

/* The node at "layers.0.heads.1.map": keys and array places between dots. NULL when it is not there. */
json_t *json_at(json_t *root, const char *path);

/* The number there; NaN when it is null or not there. */
double number_at(json_t *root, const char *path);

/* Fail the test unless both have the same shape, the same texts, and numbers within `tolerance` relative to
 * the larger of 1 and their size. */
void assert_json_near(const json_t *a, const json_t *b, double tolerance);

#endif
