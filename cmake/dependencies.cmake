# Every library the program stands on, found once and given one name each. Why each: docs/dependencies.md.
# Installed beside the CMake package, which reads it for users of the static library.
find_package(PkgConfig REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
pkg_check_modules(jansson REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(pcre2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(libzip REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(sleef REQUIRED IMPORTED_TARGET sleef)

# oneDNN's own CMake package asks for OpenCL, which a CPU build does not need: find the two files instead.
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.h REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
add_library(softscope_dnnl INTERFACE IMPORTED)
target_include_directories(softscope_dnnl INTERFACE ${DNNL_INCLUDE_DIR})
target_link_libraries(softscope_dnnl INTERFACE ${DNNL_LIBRARY})
