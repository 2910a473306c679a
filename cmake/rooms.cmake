# A room is a folder of src/. Files named *_simd.c are compiled once per instruction set; the level is chosen
# at run time (src/math/isa.h).

add_library(softscope_options INTERFACE)
target_include_directories(softscope_options INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(softscope_options INTERFACE _DEFAULT_SOURCE _POSIX_C_SOURCE=200809L
  SS_VERSION="${PROJECT_VERSION}")
target_compile_options(softscope_options INTERFACE -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes
  -Wmissing-prototypes -Werror=incompatible-pointer-types
  -Werror=implicit-function-declaration -Wundef -Wformat=2 -Wvla -fno-math-errno)
if(SOFTSCOPE_WERROR)
  target_compile_options(softscope_options INTERFACE -Werror)
endif()
if(SOFTSCOPE_SANITIZE)
  target_compile_options(softscope_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(softscope_options INTERFACE -fsanitize=address,undefined)
endif()
if(SOFTSCOPE_FUZZ)
  target_compile_options(softscope_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

set(SOFTSCOPE_LEVELS base)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND SOFTSCOPE_LEVELS avx2 avx512)
endif()
set(SOFTSCOPE_FLAGS_base "")
# what a level may use is what math/isa.c asks the processor for
set(SOFTSCOPE_FLAGS_avx2 -mavx2 -mfma -mbmi2)
set(SOFTSCOPE_FLAGS_avx512 ${SOFTSCOPE_FLAGS_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl
  -mprefer-vector-width=512)

# ss_room(NAME [dependency...]): object library room_NAME from src/NAME.
function(ss_room name)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.c)
  set(leveled ${sources})
  list(FILTER sources EXCLUDE REGEX "_simd\\.c$")
  list(FILTER leveled INCLUDE REGEX "_simd\\.c$")
  if(NOT sources)
    return()
  endif()
  add_library(room_${name} OBJECT ${sources})
  target_link_libraries(room_${name} PUBLIC softscope_options ${ARGN})
  set_property(GLOBAL APPEND PROPERTY softscope_objects $<TARGET_OBJECTS:room_${name}>)
  set_property(GLOBAL APPEND PROPERTY softscope_links ${ARGN})
  if(leveled)
    foreach(level IN LISTS SOFTSCOPE_LEVELS)
      add_library(room_${name}_${level} OBJECT ${leveled})
      target_link_libraries(room_${name}_${level} PUBLIC softscope_options ${ARGN})
      # contraction gives fused multiply-adds; no other liberty with floating point is taken
      target_compile_options(room_${name}_${level} PRIVATE ${SOFTSCOPE_FLAGS_${level}} -ffp-contract=fast -O3)
      set_property(GLOBAL APPEND PROPERTY softscope_objects $<TARGET_OBJECTS:room_${name}_${level}>)
    endforeach()
  endif()
endfunction()
