/* Whether a reader insists on a key of a JSON object or of GGUF metadata.
 * With SS_OPTIONAL an absent key (or a JSON null) succeeds and leaves the output as it was, so the caller
 * puts its default there first. A key of the wrong type is an error either way. */
#ifndef SS_FORMATS_NEED_H
#define SS_FORMATS_NEED_H

typedef enum ss_need { SS_OPTIONAL, SS_REQUIRED } ss_need;

#endif
