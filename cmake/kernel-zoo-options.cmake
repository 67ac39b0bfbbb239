# What holds for every target of this tree, and not for somebody who uses the SDK.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF) # CMake 3.28 would preprocess each file once more

# Somebody who names a launcher means it; else ccache, where it was installed when the folder was
# configured first. Build folders of this tree share what they compile: paths are relative, and the
# debug information names one folder.
if(NOT DEFINED KZOO_CCACHE)
  find_program(KZOO_CCACHE ccache)
endif()
mark_as_advanced(KZOO_CCACHE)
foreach(language IN ITEMS CXX CUDA)
  if(KZOO_CCACHE AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
    set(CMAKE_${language}_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${KZOO_CCACHE})
    add_compile_options(
      $<$<COMPILE_LANGUAGE:CXX>:-fdebug-prefix-map=${PROJECT_BINARY_DIR}=${PROJECT_SOURCE_DIR}/build/any>)
  endif()
endforeach()

# Files whose paths match the same regular expression are compiled together, in every configuration, so
# that the libraries' headers are read, and their templates instantiated, a few times and not in each
# file: kzoo_unity(target REGEX…). A group should take no more than half a minute.
option(KZOO_UNITY "Compile the runner's and the tests' files in groups" ON)
function(kzoo_unity target)
  if(NOT KZOO_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(regex IN LISTS ARGN)
    string(REGEX REPLACE "[^a-z]+" "_" group "${regex}")
    set(files ${sources})
    list(FILTER files INCLUDE REGEX "${regex}[^/]*\\.cpp$")
    set_source_files_properties(${files} PROPERTIES UNITY_GROUP "${group}")
  endforeach()
endfunction()

if(NOT KZOO_CUDA_AT)
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON) # CUDA is seldom in the loader's own folders
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(KZOO_PLUGIN_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/plugins)

# One place for warnings. nvcc hands them to the host compiler; -Wpedantic objects to the line
# markers in what nvcc generates, so it stays with the files that g++ reads itself.
add_library(kzoo_warnings INTERFACE)
target_compile_options(
  kzoo_warnings
  INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Werror>
            $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Werror -Werror=all-warnings>)
# g++ 12 sees overlapping copies in std::string's operator+ that are not there (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(kzoo_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()

# The runner and its tests under sanitizers, whose first finding ends the process, or counting lines.
# Plugins are built as ever: kzoo_sanitized(target…) says what is not.
set(KZOO_SANITIZED "" CACHE STRING "Build the runner and its tests with: address,undefined or thread")
option(KZOO_COVERAGE "Build the runner and its tests for gcov" OFF)
function(kzoo_sanitized)
  set(compile)
  set(link)
  if(KZOO_SANITIZED)
    set(link -fsanitize=${KZOO_SANITIZED})
    set(compile ${link} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      # GCC's manual: -fsanitize brings false warnings of -Wmaybe-uninitialized.
      list(APPEND compile -Wno-maybe-uninitialized)
    endif()
  endif()
  if(KZOO_COVERAGE)
    list(APPEND link --coverage)
    list(APPEND compile --coverage -fprofile-update=atomic)
  endif()
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PUBLIC ${compile})
    target_link_options(${target} PUBLIC ${link})
  endforeach()
endfunction()
