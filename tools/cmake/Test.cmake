# thalweg_test(NAME KIND unit|scripted|sim|process|golden
#   SOURCES  files
#   USES     modules of ours and third-party targets
#   [QUICK]  also runs under the sanitizers)
#
# Declares the test program test_NAME, named KIND.NAME in ctest, with the kind as label and its time limit. The
# target thalweg_quick builds the QUICK ones.
add_custom_target(thalweg_quick COMMENT "The test programs that also run under the sanitizers")

function(thalweg_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "QUICK" "KIND" "SOURCES;USES")
  set(limit_unit 5)
  set(limit_scripted 5)
  set(limit_sim 60)
  set(limit_golden 60)
  set(limit_process 60)
  if(NOT DEFINED limit_${arg_KIND})
    message(FATAL_ERROR "thalweg_test(${name}): KIND ${arg_KIND} is not one of unit, scripted, sim, golden, process")
  endif()
  add_executable(test_${name} ${arg_SOURCES})
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/runtime/include)
  target_link_libraries(test_${name} PRIVATE thalweg_flags ${arg_USES} GTest::gmock GTest::gtest_main)
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${arg_KIND}.${name} COMMAND test_${name})
  set(limit ${limit_${arg_KIND}})
  # A kind's limit is for a quiet machine; on a shared one, and under a sanitizer, the same work takes longer.
  math(EXPR limit "${limit} * 4")
  if(THALWEG_SANITIZE)
    math(EXPR limit "${limit} * 5")
  endif()
  set(labels ${arg_KIND})
  if(arg_QUICK)
    list(APPEND labels quick)
    add_dependencies(thalweg_quick test_${name})
  endif()
  set_tests_properties(${arg_KIND}.${name} PROPERTIES LABELS "${labels}" TIMEOUT ${limit}
    ENVIRONMENT "THALWEG_PROGRAM=${PROJECT_BINARY_DIR}/thalweg;THALWEG_SOURCE=${PROJECT_SOURCE_DIR}")
endfunction()
