# Filled by the install rules of the library: headers, CMake package, pkg-config file, program, man page.
