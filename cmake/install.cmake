# What `make install` puts where: program, public header, both libraries, CMake package, pkg-config file, manual,
# completion. Users of the shared library need nothing else; for the static one the package finds what it stands on.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/softscope)
install(TARGETS softscope RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES include/softscope.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set_target_properties(softscope_shared PROPERTIES EXPORT_NAME softscope)
set_target_properties(softscope_static PROPERTIES EXPORT_NAME static)
foreach(kind IN ITEMS shared static)
  install(TARGETS softscope_${kind} EXPORT softscope-${kind}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT softscope-${kind} NAMESPACE softscope:: DESTINATION ${package_dir})
endforeach()

configure_file(cmake/softscope-config.cmake.in softscope-config.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/softscope-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/softscope-config.cmake ${PROJECT_BINARY_DIR}/softscope-config-version.cmake
  cmake/dependencies.cmake DESTINATION ${package_dir})

# The .pc file names the same dependencies as the libraries were linked with.
get_property(links GLOBAL PROPERTY softscope_links)
list(REMOVE_DUPLICATES links)
set(requires "")
foreach(link IN LISTS links)
  if(link MATCHES "^PkgConfig::(.+)$")
    list(APPEND requires ${${CMAKE_MATCH_1}_MODULE_NAME})
  endif()
endforeach()
list(JOIN requires " " requires)
file(RELATIVE_PATH up_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /) # so that the folder may be moved
configure_file(cmake/softscope.pc.in softscope.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/softscope.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The manual page and the completion are what the program says of itself.
if(NOT CMAKE_CROSSCOMPILING)
  add_custom_command(OUTPUT softscope.1 softscope.bash DEPENDS softscope
    COMMAND softscope --man > softscope.1
    COMMAND softscope --completion > softscope.bash)
  add_custom_target(manual ALL DEPENDS softscope.1 softscope.bash)
  install(FILES ${PROJECT_BINARY_DIR}/softscope.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PROJECT_BINARY_DIR}/softscope.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME softscope)
endif()
