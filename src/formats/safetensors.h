/* safetensors: 8 bytes of header length, a JSON header, then the tensors' bytes.
 * Format: the README of the safetensors project.
 *
 * Refused when opened (SS_E_FORMAT with file and byte or tensor): a header longer than the file or than
 * SS_JSON_LIMIT; offsets out of order, overlapping, leaving holes or pointing past the end; a shape whose
 * bytes are not those of its range; duplicate names; metadata that is no map of strings; more than
 * SS_MAX_DIMS dimensions. A dtype that this library cannot read (F8_E4M3, ...) is listed as SS_TYPE_NONE and
 * refused only when asked for, so that a file with one exotic tensor stays readable.
 * Relies on: formats/json, formats/tensors. */
#ifndef SS_FORMATS_SAFETENSORS_H
#define SS_FORMATS_SAFETENSORS_H

#include "formats/tensors.h"

/* One file. *tensors is the caller's, to release with ss_tensors_free. */
ss_status ss_safetensors_open(const char *path, const ss_allocator *memory, ss_tensors **tensors,
                              ss_error *error);

/* The shards that an index (model.safetensors.index.json) names; they lie in the index's own folder. A shard
 * name that could leave that folder is refused before any file is opened. Each tensor of the index must be
 * in the shard it names; tensors that the index does not list are left out. */
ss_status ss_safetensors_open_sharded(const char *index_path, const ss_allocator *memory,
                                      ss_tensors **tensors, ss_error *error);

/* One file that already lies in memory and stays there as long as the set; `file` is its name in messages. */
ss_status ss_safetensors_parse(const char *file, const void *bytes, size_t size, const ss_allocator *memory,
                               ss_tensors **tensors, ss_error *error);

#endif
