/* Releasing an array. Relies on: base/file, base/mem. */
#include "formats/array.h"

void ss_array_free(ss_array *array) {
    ss_free(array->memory, array->owned);
    ss_map_close(&array->map);
    *array = (ss_array){0};
}
