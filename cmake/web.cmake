# The report page: web/ is bundled by npm's packages into web/dist/page.html, which embed.cmake turns into C bytes.
# Packages are fetched when CMake configures, and only when the lock file is newer than what is there; the bundle is
# made at build time, and only when its sources changed. Without npm the library is built without the page.
set(SOFTSCOPE_PAGE AUTO CACHE STRING "Build the report page: AUTO (where npm works), ON (it must), OFF")
set(web ${PROJECT_SOURCE_DIR}/web)
set(SOFTSCOPE_PAGE_BUILT OFF)

function(softscope_fetch_packages result)
  set(stamp ${web}/node_modules/.package-lock.json)
  if(EXISTS ${stamp} AND NOT ${web}/package-lock.json IS_NEWER_THAN ${stamp})
    set(${result} 0 PARENT_SCOPE)
    return()
  endif()
  message(STATUS "Fetching the report page's packages (npm ci)")
  execute_process(COMMAND ${SOFTSCOPE_NPM} ci --no-audit --no-fund WORKING_DIRECTORY ${web}
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE said)
  if(status EQUAL 0)
    file(TOUCH ${stamp})
  else()
    message(STATUS "npm ci failed: ${said}")
  endif()
  set(${result} ${status} PARENT_SCOPE)
endfunction()

if(NOT SOFTSCOPE_PAGE STREQUAL "OFF")
  find_program(SOFTSCOPE_NPM npm)
  find_program(SOFTSCOPE_NODE NAMES node nodejs)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${web}/package-lock.json)
  if(SOFTSCOPE_NPM AND SOFTSCOPE_NODE)
    softscope_fetch_packages(status)
    if(status EQUAL 0)
      set(SOFTSCOPE_PAGE_BUILT ON)
    endif()
  endif()
  if(NOT SOFTSCOPE_PAGE_BUILT)
    if(SOFTSCOPE_PAGE STREQUAL "ON")
      message(FATAL_ERROR "The report page needs Node.js 18 or later with npm, and its packages")
    endif()
    message(STATUS "Building without the report page: it needs Node.js 18 or later with npm, and its packages")
  endif()
endif()

set(page)
if(SOFTSCOPE_PAGE_BUILT)
  set(page ${web}/dist/page.html)
  file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS ${web}/src/*)
  add_custom_command(OUTPUT ${page} COMMAND ${SOFTSCOPE_NODE} ${web}/build.mjs
    DEPENDS ${page_sources} ${web}/build.mjs ${web}/charts.js ${web}/package-lock.json
    WORKING_DIRECTORY ${web} COMMENT "Bundling the report page" VERBATIM)
endif()
set(page_bytes ${PROJECT_BINARY_DIR}/web/page.c)
add_custom_command(OUTPUT ${page_bytes}
  COMMAND ${CMAKE_COMMAND} -DINPUT=${page} -DOUTPUT=${page_bytes} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${page} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake COMMENT "Embedding the report page" VERBATIM)
target_sources(room_report PRIVATE ${page_bytes})
set(SOFTSCOPE_PAGE_BUILT ${SOFTSCOPE_PAGE_BUILT} PARENT_SCOPE) # the tests ask
