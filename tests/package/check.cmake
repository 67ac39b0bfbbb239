# Installs the tree, from a Debian package where one can be made, builds the template against the installed SDK as somebody without this tree
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
# Of the last two CPack asks what a file needs: Debian's packages file and dpkg-dev.
foreach(tool IN ITEMS cpack dpkg-deb file dpkg-shlibdeps)
  find_program(${tool} ${tool})
endforeach()
if(cpack AND dpkg-deb AND file AND dpkg-shlibdeps)
  # In the C locale it cannot read a path with letters beyond ASCII.
  must(${CMAKE_COMMAND} -E env LC_ALL=C.UTF-8 ${cpack} --config ${BUILD}/CPackConfig.cmake -G DEB -B ${WORK}/deb)
  file(GLOB package ${WORK}/deb/*.deb)
  must(${dpkg-deb} --field ${package} Depends)
  if(NOT out MATCHES "libssl" OR NOT out MATCHES "libstdc\\+\\+6")
    message(FATAL_ERROR "the package depends on: ${out}")
  endif()
  must(${dpkg-deb} --extract ${package} ${WORK}/root)
  file(RENAME ${WORK}/root/usr ${WORK}/prefix) # as if /usr were there
else()
  must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
endif()
file(COPY ${WORK}/prefix/share/kernel-zoo/template DESTINATION ${WORK})
# Without Boost, which the SDK has been built with.
must(${CMAKE_COMMAND} -G Ninja -S ${WORK}/template -B ${WORK}/build -D CMAKE_BUILD_TYPE=Release
     -D CMAKE_PREFIX_PATH=${WORK}/prefix -D KZOO_CUDA=${CUDA} -D CMAKE_CUDA_ARCHITECTURES=80-real
     -D CMAKE_DISABLE_FIND_PACKAGE_Boost=ON)
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
# A program that calls the installed kernels; one with a plugin of its own has both.
set(library ${CMAKE_CURRENT_LIST_DIR}/../../examples/library)
must(${CMAKE_COMMAND} -G Ninja -S ${library} -B ${WORK}/program -D CMAKE_BUILD_TYPE=Release
     -D CMAKE_PREFIX_PATH=${WORK}/prefix)
must(${CMAKE_COMMAND} --build ${WORK}/program)
must(${WORK}/program/sgemm cpu)
if(NOT out MATCHES "(openblas|serial|dispatch):[a-z0-9_]+: C.1..2. is [0-9]+, and")
  message(FATAL_ERROR "the program that calls libkzoo says:\n${out}")
endif()
# Components that there are and are not.
file(WRITE ${WORK}/components/CMakeLists.txt [[
cmake_minimum_required(VERSION 3.25)
project(components LANGUAGES CXX)
find_package(kernel-zoo QUIET COMPONENTS library nosuch)
if(kernel-zoo_FOUND OR kernel-zoo_nosuch_FOUND)
  message(FATAL_ERROR "there is a component nosuch")
endif()
find_package(kernel-zoo REQUIRED COMPONENTS library OPTIONAL_COMPONENTS nosuch)
if(NOT kernel-zoo_library_FOUND OR COMMAND kzoo_add_plugin)
  message(FATAL_ERROR "the component library is not what is found")
endif()
]])
must(${CMAKE_COMMAND} -G Ninja -S ${WORK}/components -B ${WORK}/components/build
     -D CMAKE_PREFIX_PATH=${WORK}/prefix)
# libkzoo without the program and its plugins, which a program can be built with.
must(${CMAKE_COMMAND} --install ${BUILD} --component library --prefix ${WORK}/library)
must(${CMAKE_COMMAND} -G Ninja -S ${library} -B ${WORK}/program_of_library
     -D CMAKE_PREFIX_PATH=${WORK}/library)
must(${CMAKE_COMMAND} --build ${WORK}/program_of_library)
if(EXISTS ${WORK}/library/bin OR EXISTS ${WORK}/library/lib/kernel-zoo)
  message(FATAL_ERROR "the component library has more than libkzoo")
endif()
# The library for LD_PRELOAD finds libkzoo; a program that it cannot help goes on.
file(GLOB_RECURSE preload ${WORK}/prefix/lib/libkzoo_blas.so)
if(preload)
  cmake_path(GET preload PARENT_PATH folder)
  must(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${folder} LD_PRELOAD=libkzoo_blas.so echo preloaded)
  if(NOT out STREQUAL "preloaded\n")
    message(FATAL_ERROR "with the installed libkzoo_blas.so: ${out}")
  endif()
endif()
# A program that knows no CMake.
find_program(pkg_config pkg-config)
file(GLOB_RECURSE described ${WORK}/prefix/*/kzoo.pc)
cmake_path(GET described PARENT_PATH folder)
if(pkg_config)
  file(WRITE ${WORK}/version.c "#include <kzoo/kzoo.h>\n#include <stdio.h>\n"
                               "int main(void) { return puts(kzoo_version()) < 0; }\n")
  set(ENV{PKG_CONFIG_PATH} ${folder})
  # What pkg-config prints is quoted for the shell.
  must(sh -c "eval cc version.c `pkg-config --cflags --libs kzoo` -o version" WORKING_DIRECTORY ${WORK})
  must(sh -c "eval LD_LIBRARY_PATH=`pkg-config --variable=libdir kzoo` ./version" WORKING_DIRECTORY ${WORK})
  set(version "${out}")
  must(${pkg_config} --modversion kzoo)
  if(NOT version STREQUAL out)
    message(FATAL_ERROR "kzoo_version() is ${version}, and kzoo.pc says ${out}")
  endif()
endif()
# From an empty folder, as a new user begins.
file(MAKE_DIRECTORY ${WORK}/empty)
set(runner ${WORK}/prefix/bin/runner)
must(sh -c "cd '${WORK}/empty' && '${runner}' new first")
must(sh -c "cd '${WORK}/empty' && '${runner}' quick --device cpu --plugins ./first/first.cu,naive")
if(NOT out MATCHES "first:16x16" OR NOT out MATCHES "ok: ")
  message(FATAL_ERROR "the installed runner says of a new plugin:\n${out}")
endif()
# What it refers to, and what shells ask.
foreach(file IN ITEMS doc/kernel-zoo/docs/plugins.md bash-completion/completions/runner)
  if(NOT EXISTS ${WORK}/prefix/share/${file})
    message(FATAL_ERROR "share/${file} is not installed")
  endif()
endforeach()
# The dev container is a stage of the Dockerfile.
file(READ ${CMAKE_CURRENT_LIST_DIR}/../../.devcontainer/devcontainer.json container)
file(READ ${CMAKE_CURRENT_LIST_DIR}/../../Dockerfile dockerfile)
string(JSON stage GET "${container}" build target)
if(NOT dockerfile MATCHES " AS ${stage}\n")
  message(FATAL_ERROR "the Dockerfile has no stage '${stage}'")
endif()
file(REMOVE_RECURSE ${WORK})
