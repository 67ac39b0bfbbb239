# Plugins are found wherever their folders are dropped, and in which order: configures plugins/ with
# folders that are made up. Nothing is compiled.
#   cmake -D PLUGINS=FOLDER -D WORK=FOLDER -P plugin_folders.cmake

# Configures with plugins in these folders, and sets `names` to what there is then, or `fault`.
function(configure)
  file(REMOVE_RECURSE ${WORK})
  file(WRITE ${WORK}/CMakeLists.txt [[
cmake_minimum_required(VERSION 3.25)
project(folders LANGUAGES NONE)
set(KZOO_PLUGIN_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
function(kzoo_ptx_alone)
endfunction()
function(kzoo_add_plugin)
  cmake_parse_arguments(PARSE_ARGV 0 it "" "NAME" "")
  add_custom_target(kzoo_cpu_${it_NAME})
  set_property(GLOBAL APPEND PROPERTY KZOO_PLUGIN_TARGETS kzoo_cpu_${it_NAME})
endfunction()
add_subdirectory(plugins)
]])
  configure_file(${PLUGINS}/CMakeLists.txt ${WORK}/plugins/CMakeLists.txt COPYONLY)
  foreach(folder IN LISTS ARGN)
    string(REGEX REPLACE ".*/([0-9]+_)?" "" name /${folder})
    file(WRITE ${WORK}/plugins/${folder}/${name}.cu "")
  endforeach()
  execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${WORK} -B ${WORK}/build
                  RESULT_VARIABLE code OUTPUT_QUIET ERROR_VARIABLE fault)
  string(REGEX REPLACE "[ \n]+" " " fault "${fault}")  # CMake wraps lines
  set(fault "${fault}" PARENT_SCOPE)
  set(names "" PARENT_SCOPE)
  if(code EQUAL 0)
    file(STRINGS ${WORK}/build/names.txt names)
    list(TRANSFORM names REPLACE " cpu$" "")
    list(JOIN names " " names)
    set(names "${names}" PARENT_SCOPE)
  endif()
endfunction()

function(expect what pattern)
  if(NOT "${${what}}" MATCHES "${pattern}")
    message(FATAL_ERROR "${what} should be like '${pattern}' and is '${${what}}'")
  endif()
endfunction()

set(tree fp32/01_naive fp32/2_coalesced fp32/10_pipelined detours/coarsened fp32/common
         libraries/serial)
configure(${tree})
expect(names "^naive coalesced pipelined coarsened serial$")
configure(${tree} mine)
expect(names "^naive coalesced pipelined coarsened serial mine$")
configure(${tree} fp32/mine)
expect(names "^naive coalesced pipelined mine coarsened serial$")
configure(${tree} mine/naive)
expect(fault "another folder has a plugin naive")
