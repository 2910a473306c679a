/* A set of named tensors in memory-mapped files, whatever the container: the model room reads safetensors
 * and GGUF alike through this.
 *
 * Everything is checked when the container is opened: each view lies inside its file, and its shape and type
 * give its byte count. Data pointers may be unaligned and go straight to the file's pages: convert with
 * math/types. Relies on: base, math/types.
 * A set is not written after opening: any number of threads may read it. */
#ifndef SS_FORMATS_TENSORS_H
#define SS_FORMATS_TENSORS_H

#include "base/status.h"
#include "math/types.h"

enum { SS_MAX_DIMS = 8 };

/* One tensor. Pointers live as long as the set it came from. */
typedef struct ss_tensor_view {
    const char *name;
    const char *type_name;     /* as the file calls it: "Q6_K" even where `type` is SS_TYPE_NONE */
    ss_type type;              /* SS_TYPE_NONE: listed, but this library cannot read its data */
    unsigned dims;             /* 0 for a scalar */
    size_t shape[SS_MAX_DIMS]; /* outermost first, row-major: shape[dims - 1] varies fastest */
    size_t elements, bytes;
    const void *data; /* NULL when bytes is 0, which it is where the size of an unread type is unknown */
    const char *file; /* path of the file that holds it */
} ss_tensor_view;

typedef struct ss_tensors ss_tensors;

void ss_tensors_free(ss_tensors *tensors); /* NULL is allowed */

size_t ss_tensors_count(const ss_tensors *tensors);

/* The index-th tensor in the order of names (bytewise), index < count. */
const ss_tensor_view *ss_tensors_at(const ss_tensors *tensors, size_t index);

/* The tensor of that name, NULL when there is none. Its type may be SS_TYPE_NONE. */
const ss_tensor_view *ss_tensors_find(const ss_tensors *tensors, const char *name);

/* The tensor of that name, to use its data: SS_E_FORMAT names an absent tensor, SS_E_UNSUPPORTED names the
 * type of one that this library cannot read. */
ss_status ss_tensors_get(const ss_tensors *tensors, const char *name, const ss_tensor_view **view,
                         ss_error *error);

/* "[2, 3]" into text, cut to fit; returns text. */
char *ss_shape_text(unsigned dims, const size_t *shape, char *text, size_t size);

#endif
