# thalweg_test(NAME KIND unit|scripted|sim|process|golden|fuzz|perf
#   SOURCES  files
#   USES     modules of ours and third-party targets
#   [CORPUS  folders of inputs, for fuzz]
#   [QUICK]  also runs under AddressSanitizer and UndefinedBehaviorSanitizer)
#
# Declares the test program test_NAME, named KIND.NAME in ctest, with the kind as label and its time limit. The
# target thalweg_quick builds the QUICK ones. Unit tests of the layers below the actors also have the label tsan, and
# the target thalweg_tsan builds them: every message of CAF, which is not instrumented, would look like a race.
#
# A fuzz test is the program fuzz_NAME, which runs tests/fuzz/corpus/NAME and the folders in CORPUS, and for
# THALWEG_FUZZ_SECONDS what can be made of them; fuzz_NAME NAMES_OF_FILES runs those alone.
#
# Of kind perf is a program of Google Benchmark, perf_NAME: ctest only runs it for a moment and looks at its exit code,
# since times of a shared machine fail for no reason.
add_custom_target(thalweg_quick COMMENT "The test programs that also run under the sanitizers")
add_custom_target(thalweg_tsan COMMENT "The test programs that also run under ThreadSanitizer")
set(THALWEG_FUZZ_SECONDS 1 CACHE STRING "Seconds that each fuzz test runs")

function(thalweg_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "QUICK" "KIND" "SOURCES;USES;CORPUS")
  set(limit_unit 5)
  set(limit_scripted 5)
  set(limit_sim 60)
  set(limit_golden 60)
  set(limit_process 60)
  set(limit_fuzz 15)
  set(limit_perf 60)
  if(NOT DEFINED limit_${arg_KIND})
    message(FATAL_ERROR
      "thalweg_test(${name}): KIND ${arg_KIND} is not one of unit, scripted, sim, golden, process, fuzz, perf")
  endif()
  set(program test_${name})
  if(arg_KIND MATCHES "^(fuzz|perf)$")
    set(program ${arg_KIND}_${name})
  endif()
  add_executable(${program} ${arg_SOURCES})
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/runtime/include)
  target_link_libraries(${program} PRIVATE thalweg_flags ${arg_USES})
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  # A kind's limit is for a quiet machine; on a shared one, and under a sanitizer, the same work takes longer.
  math(EXPR limit "${limit_${arg_KIND}} * 4")
  if(THALWEG_SANITIZE)
    math(EXPR limit "${limit} * 5")
  endif()
  set(labels ${arg_KIND})
  if(arg_KIND STREQUAL fuzz)
    thalweg_fuzz_command(${name} ${arg_CORPUS})
    math(EXPR limit "${limit} + ${THALWEG_FUZZ_SECONDS}")
  elseif(arg_KIND STREQUAL perf)
    target_link_libraries(${program} PRIVATE benchmark::benchmark benchmark::benchmark_main)
    add_test(NAME perf.${name} COMMAND ${program} --benchmark_min_time=0.001)
  else()
    target_link_libraries(${program} PRIVATE GTest::gmock GTest::gtest_main)
    add_test(NAME ${arg_KIND}.${name} COMMAND ${program})
  endif()
  if(arg_QUICK)
    list(APPEND labels quick)
    add_dependencies(thalweg_quick ${program})
  endif()
  set(above ${arg_USES})
  list(REMOVE_ITEM above thalweg_runtime thalweg_wire thalweg_net thalweg_gpu thalweg_models ZLIB::ZLIB)
  if(arg_KIND STREQUAL unit AND NOT above)
    list(APPEND labels tsan)
    add_dependencies(thalweg_tsan ${program})
  endif()
  set_tests_properties(${arg_KIND}.${name} PROPERTIES LABELS "${labels}" TIMEOUT ${limit}
    ENVIRONMENT "THALWEG_PROGRAM=${PROJECT_BINARY_DIR}/thalweg;THALWEG_SOURCE=${PROJECT_SOURCE_DIR};\
TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tools/check/tsan.supp")
endfunction()

# The test of fuzz_NAME, run from a folder where it can leave the inputs that end it. libFuzzer also keeps the inputs
# that reached something new, in the first of its folders, and begins with them next time.
function(thalweg_fuzz_command name)
  set(corpus ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name} ${ARGN})
  set(folder ${PROJECT_BINARY_DIR}/fuzz)
  file(MAKE_DIRECTORY ${folder}/corpus/${name})
  if(THALWEG_FUZZ)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    set(arguments -max_total_time=${THALWEG_FUZZ_SECONDS} -timeout=10 -verbosity=0 -print_final_stats=1
      -artifact_prefix=${folder}/${name}- -dict=${PROJECT_SOURCE_DIR}/tests/fuzz/dictionaries/${name}.dict
      ${folder}/corpus/${name} ${corpus})
  else()
    target_link_libraries(fuzz_${name} PRIVATE thalweg_fuzz_drive)
    set(arguments --seconds ${THALWEG_FUZZ_SECONDS} ${corpus})
  endif()
  add_test(NAME fuzz.${name} COMMAND fuzz_${name} ${arguments} WORKING_DIRECTORY ${folder})
endfunction()
