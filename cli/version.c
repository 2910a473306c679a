/* What the build was made with and what it found, one line a library; OpenMP by the date of its standard. */
#include "commands.h"

#include <jansson.h>
#include <oneapi/dnnl/dnnl.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <sleef.h>
#include <utf8proc.h>
#include <zip.h>
#include <zlib.h>

void print_libraries(FILE *out) {
    char pcre[64] = "?";
    pcre2_config(PCRE2_CONFIG_VERSION, pcre);
    const dnnl_version_t *dnnl = dnnl_version();
    fprintf(out,
            "  oneDNN %d.%d.%d\n  SLEEF %d.%d.%d\n  OpenMP %d\n  jansson %s\n  PCRE2 %s\n  utf8proc %s\n  "
            "libzip %s\n  zlib %s\n",
            dnnl->major, dnnl->minor, dnnl->patch, SLEEF_VERSION_MAJOR, SLEEF_VERSION_MINOR,
            SLEEF_VERSION_PATCHLEVEL, _OPENMP, JANSSON_VERSION, pcre, utf8proc_version(),
            zip_libzip_version(), zlibVersion());
}
