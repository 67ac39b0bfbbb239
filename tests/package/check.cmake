# Installs the tree, builds the template against the installed SDK as somebody without this tree
# would, and runs the result with the installed runner.
#   cmake -D BUILD=… -D WORK=… -D CUDA=AUTO|OFF -P check.cmake
function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\ngave ${code}:\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
file(COPY ${WORK}/prefix/share/kernel-zoo/template DESTINATION ${WORK})
must(${CMAKE_COMMAND} -G Ninja -S ${WORK}/template -B ${WORK}/build -D CMAKE_BUILD_TYPE=Release
     -D CMAKE_PREFIX_PATH=${WORK}/prefix -D KZOO_CUDA=${CUDA} -D CMAKE_CUDA_ARCHITECTURES=80-real)
must(${CMAKE_COMMAND} --build ${WORK}/build)
must(${WORK}/prefix/bin/runner quick --device cpu --sizes 33x9x5 --plugins mine,naive,smem
     --plugin-dir ${WORK}/build/plugins)
if(NOT out MATCHES "mine:16x16" OR NOT out MATCHES "ok: ")
  message(FATAL_ERROR "the installed runner says:\n${out}")
endif()
# Its memory accesses, from one more build in that folder, which g++ makes.
if(EXISTS ${WORK}/build/plugins/cpu-xray/mine.build)
  must(${WORK}/prefix/bin/runner xray quick --sizes 32 --cell mine:16x16 --lines
       --plugin-dir ${WORK}/build/plugins)
  if(NOT out MATCHES "mine.cu" OR NOT out MATCHES "global load")
    message(FATAL_ERROR "the installed runner's xray says:\n${out}")
  endif()
endif()
# The same file and folder, which the installed runner builds itself.
set(ENV{XDG_CACHE_HOME} ${WORK}/cache)
foreach(plugin IN ITEMS ${WORK}/template/mine.cu ${WORK}/template/)
  must(${WORK}/prefix/bin/runner quick --device cpu --sizes 33x9x5 --no-journal
       --plugins ${plugin},naive)
  if(NOT out MATCHES "mine:16x16" OR NOT out MATCHES "ok: ")
    message(FATAL_ERROR "the installed runner says of ${plugin}:\n${out}")
  endif()
endforeach()
file(REMOVE_RECURSE ${WORK})
