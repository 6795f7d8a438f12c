# Installs what is built into an empty prefix, and builds and runs a program that knows nothing but that prefix:
#   cmake -DBUILD=folder -DSOURCE=folder -DSCRATCH=folder -P package.cmake
file(REMOVE_RECURSE ${SCRATCH})

function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${code}\n${said}")
  endif()
  set(said "${said}" PARENT_SCOPE)
endfunction()

must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)
must(${SCRATCH}/prefix/bin/thalweg --version)
# A copy, so that nothing of the source tree is near.
file(COPY ${SOURCE}/examples/embed DESTINATION ${SCRATCH})
must(${CMAKE_COMMAND} -S ${SCRATCH}/embed -B ${SCRATCH}/embed/build -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix
  -DCMAKE_BUILD_TYPE=Release)
must(${CMAKE_COMMAND} --build ${SCRATCH}/embed/build)
must(${SCRATCH}/embed/build/embed ${SCRATCH}/run)
if(NOT said MATCHES "own model: accuracy (0\\.9[5-9]|1\\.0).* ended by target_accuracy")
  message(FATAL_ERROR "the installed library trains, but not as it should:\n${said}")
endif()
if(NOT EXISTS ${SCRATCH}/run/model.safetensors)
  message(FATAL_ERROR "no model was left behind:\n${said}")
endif()
file(REMOVE_RECURSE ${SCRATCH})
