# Installs the build into a folder of its own, then builds and runs examples/standalone against it, as a user would.
#   cmake -DBUILD=... -DSOURCE=... -DWORK=... -DGENERATOR=... -P install_and_use.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE}/examples/standalone -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${CMAKE_COMMAND} -E env TILEWRIGHT_AUTOTUNE_EFFORT=none ${WORK}/build/standalone)
if(NOT output MATCHES "^array..\\[1.290")
  message(FATAL_ERROR "the standalone program printed:\n${output}")
endif()
