/* Names of the sites. */
#include "model/events.h"

const char *ss_site_name(ss_site site) {
    static const char *const names[] = {
#define SS_SITE_NAME(site_, name) [site_] = name,
        SS_SITE_LIST(SS_SITE_NAME)
#undef SS_SITE_NAME
    };
    return (size_t)site < SS_SITE_COUNT ? names[site] : "unknown site";
}
