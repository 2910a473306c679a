/* Lists of names. Relies on: snprintf. */
#include "formats/names.h"

#include <stdio.h>
#include <string.h>

enum { ROOM_FOR_MORE = 40 }; /* bytes kept free for " and N more" */

void ss_names_add(ss_names *names, const char *name) {
    size_t length = strlen(name) + (names->used ? 2 : 0), room = sizeof names->text - names->used;
    names->count++;
    if (names->left_out == 0 && length + ROOM_FOR_MORE < room) {
        snprintf(names->text + names->used, room, "%s%s", names->used ? ", " : "", name);
        names->used += length;
        return;
    }
    snprintf(names->text + names->used, room, "%s%zu%s", names->used ? " and " : "", ++names->left_out,
             names->used ? " more" : " with long names");
}
