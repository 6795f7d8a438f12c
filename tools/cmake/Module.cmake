# thalweg_module(NAME
#   DEPENDS  modules of ours below this one
#   USES     third-party targets this module may include
#   SOURCES  files, listed one by one)
#
# Declares the static library thalweg_NAME, one per layer. Third-party targets are private: a layer's users do
# not see what it is made of.
function(thalweg_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;USES;SOURCES")
  add_library(thalweg_${name} STATIC ${arg_SOURCES})
  target_include_directories(thalweg_${name} PUBLIC ${PROJECT_SOURCE_DIR}
                                                    ${PROJECT_SOURCE_DIR}/runtime/include)
  target_link_libraries(thalweg_${name} PRIVATE thalweg_flags)
  foreach(module IN LISTS arg_DEPENDS)
    target_link_libraries(thalweg_${name} PUBLIC thalweg_${module})
  endforeach()
  target_link_libraries(thalweg_${name} PRIVATE ${arg_USES})
endfunction()
