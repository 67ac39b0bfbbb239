# What holds for every target of this tree, and not for somebody who uses the SDK.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON) # CUDA is seldom in the loader's own folders
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(KZOO_PLUGIN_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/plugins)

# One place for warnings. nvcc hands them to the host compiler; -Wpedantic objects to the line
# markers in what nvcc generates, so it stays with the files that g++ reads itself.
add_library(kzoo_warnings INTERFACE)
target_compile_options(
  kzoo_warnings
  INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Werror>
            $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Werror -Werror=all-warnings>)
