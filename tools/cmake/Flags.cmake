# Build-only flags, on one interface target that nothing exports.
add_library(thalweg_flags INTERFACE)
if(THALWEG_DEVELOPER)
  target_compile_options(thalweg_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor -Werror)
endif()
if(THALWEG_SANITIZE)
  target_compile_options(thalweg_flags INTERFACE -fsanitize=${THALWEG_SANITIZE} -fno-omit-frame-pointer
                                                 -fno-sanitize-recover=all)
  target_link_options(thalweg_flags INTERFACE -fsanitize=${THALWEG_SANITIZE})
  # CAF binds references to what an empty pointer points at when it spawns a function.
  if(THALWEG_SANITIZE MATCHES undefined)
    target_compile_options(thalweg_flags INTERFACE -fno-sanitize=null)
  endif()
  # Checked loads keep clang from vectorising loops that ask for it, which it would report as an error.
  target_compile_options(thalweg_flags INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>)
  # What it inserts makes GCC warn of members that are never read uninitialised, inside the standard library too;
  # the builds without it have the warning.
  target_compile_options(thalweg_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
if(THALWEG_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    message(FATAL_ERROR "THALWEG_FUZZ takes clang, which brings libFuzzer: cmake --preset fuzz")
  endif()
  target_compile_options(thalweg_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Compiler cache, when there is one.
find_program(THALWEG_CCACHE ccache)
if(THALWEG_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${THALWEG_CCACHE})
endif()
