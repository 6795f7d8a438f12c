# Build-only flags, on one interface target that nothing exports.
add_library(thalweg_flags INTERFACE)
if(THALWEG_DEVELOPER)
  target_compile_options(thalweg_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor -Werror)
endif()
if(THALWEG_SANITIZE)
  target_compile_options(thalweg_flags INTERFACE -fsanitize=${THALWEG_SANITIZE} -fno-omit-frame-pointer
                                                 -fno-sanitize-recover=all)
  target_link_options(thalweg_flags INTERFACE -fsanitize=${THALWEG_SANITIZE})
endif()

# Compiler cache, when there is one.
find_program(THALWEG_CCACHE ccache)
if(THALWEG_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${THALWEG_CCACHE})
endif()
