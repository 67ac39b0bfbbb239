# Writes how kzoo_add_plugin builds a plugin, for the runner, which builds one from a single file without
# CMake: recipes/<device>.toml, in the build folder and beside the installed plugins. The options are
# those of the targets of plugins/naive, so that they are written once, in
# sdk/cmake/kernel-zoo-plugin.cmake; the warnings of this tree are not among them.

# Options that CMake itself adds for these properties of a plugin's target.
function(kzoo_language_options language out)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  separate_arguments(options UNIX_COMMAND
                     "${CMAKE_${language}_FLAGS} ${CMAKE_${language}_FLAGS_${type}}")
  if(language STREQUAL "CXX")
    list(APPEND options ${CMAKE_CXX20_EXTENSION_COMPILE_OPTION} ${CMAKE_CXX_COMPILE_OPTIONS_PIC}
         ${CMAKE_CXX_COMPILE_OPTIONS_VISIBILITY}hidden
         ${CMAKE_CXX_COMPILE_OPTIONS_VISIBILITY_INLINES_HIDDEN})
  else()
    list(APPEND options -Xcompiler=-fPIC -Xcompiler=-fvisibility=hidden
         -Xcompiler=-fvisibility-inlines-hidden)
    if(CMAKE_CUDA_HOST_COMPILER)
      list(APPEND options -ccbin ${CMAKE_CUDA_HOST_COMPILER})
    endif()
  endif()
  set(${out} "${options}" PARENT_SCOPE)
endfunction()

set(cuda_links lib/kernel-zoo/cuda) # below the prefix, with KZOO_CUDA_AT: what the linker finds CUDA by

# The libraries of the device, with those of the SDK at `lib`.
function(kzoo_libraries device lib out)
  set(libraries ${lib}/libkzoo_manifest.a)
  if(device STREQUAL "cuda")
    if(CMAKE_CUDA_HOST_COMPILER)
      list(APPEND libraries -ccbin ${CMAKE_CUDA_HOST_COMPILER})
    endif()
    list(GET CUDAToolkit_LIBRARY_DIR 0 folder)
    if(KZOO_CUDA_AT)
      set(folder {prefix}/${KZOO_CUDA_AT}/lib)
      list(APPEND libraries -L{prefix}/${cuda_links})
    endif()
    list(APPEND libraries -cudart shared -L${folder} -Wl,-rpath,${folder})
  else()
    list(APPEND libraries ${lib}/libkzoo_sim.a ${CMAKE_THREAD_LIBS_INIT} -l${CMAKE_DL_LIBS})
  endif()
  if(device STREQUAL "cpu-xray")
    list(PREPEND libraries -Wl,--whole-archive ${lib}/libkzoo_xray.a -Wl,--no-whole-archive)
  endif()
  set(${out} "${libraries}" PARENT_SCOPE)
endfunction()

# A property of the target, and what the SDK's libraries of the device add to it.
function(kzoo_collect property target device language out)
  set(libraries kzoo_sdk)
  if(NOT device STREQUAL "cuda")
    list(APPEND libraries kzoo_sim)
  endif()
  if(device STREQUAL "cpu-xray")
    list(APPEND libraries kzoo_xray)
  endif()
  get_target_property(values ${target} ${property})
  foreach(library IN LISTS libraries)
    get_target_property(added ${library} INTERFACE_${property})
    if(added)
      list(APPEND values ${added})
    endif()
  endforeach()
  list(TRANSFORM values REPLACE "^\\$<\\$<COMPILE_LANGUAGE:${language}>:(.*)>$" "\\1")
  list(FILTER values EXCLUDE REGEX "^(\\$<.*|.*-NOTFOUND)$")
  list(TRANSFORM values REPLACE "^LINKER:" "-Wl,")
  set(${out} "${values}" PARENT_SCOPE)
endfunction()

# `folder`: where the recipe goes. The SDK's headers are in `include`, its libraries in `lib`, its
# CMake package in `package`.
function(kzoo_write_recipe device language folder include lib package exports)
  set(target kzoo_${device}_naive)
  if(NOT TARGET ${target})
    return()
  endif()
  kzoo_language_options(${language} language_options)
  kzoo_libraries(${device} ${lib} libraries)
  kzoo_collect(COMPILE_OPTIONS ${target} ${device} ${language} options)
  list(FILTER options EXCLUDE REGEX "^-fdebug-prefix-map=") # for ccache, and of this tree
  kzoo_collect(COMPILE_DEFINITIONS ${target} ${device} ${language} definitions)
  list(FILTER definitions EXCLUDE REGEX "^KZOO_BUILD_INFO")
  kzoo_collect(LINK_OPTIONS ${target} ${device} ${language} link)
  list(FILTER link EXCLUDE REGEX "version-script")
  set(architectures ${CMAKE_CUDA_ARCHITECTURES})
  set(CMAKE_CUDA_ARCHITECTURES "{architectures}")
  kzoo_build_info(${device} info)
  set(compiler ${CMAKE_${language}_COMPILER})
  set(version "${CMAKE_${language}_COMPILER_ID} ${CMAKE_${language}_COMPILER_VERSION}")
  if(KZOO_STANDALONE AND language STREQUAL "CXX") # that of another machine
    set(compiler g++)
    set(version "the g++ in PATH")
    set(info "GNU \" __VERSION__ \", ${CMAKE_BUILD_TYPE}")
  elseif(KZOO_CUDA_AT)
    set(compiler {prefix}/${KZOO_CUDA_AT}/bin/nvcc)
  endif()
  file(GENERATE OUTPUT ${folder}/${device}.toml CONTENT
"# How plugins for ${device} are compiled; lists have semicolons. runner/compile reads it.
compiler = '${compiler}'
version = '${version}'
build_info = '${info}'
architectures = '${architectures}'
include = '${include}'
simulated_include = '${include}/kzoo/sim/cuda_headers'
package = '${package}'
options = '${language_options};${options}'
definitions = '${definitions}'
link_options = '${link};-Wl,--version-script=${exports}'
libraries = '${libraries}'
")
endfunction()

function(kzoo_write_recipes folder include lib package exports)
  kzoo_write_recipe(cpu CXX ${folder} ${include} ${lib} ${package} ${exports})
  kzoo_write_recipe(cpu-xray CXX ${folder} ${include} ${lib} ${package} ${exports})
  if(KZOO_CUDA_ENABLED)
    kzoo_write_recipe(cuda CUDA ${folder} ${include} ${lib} ${package} ${exports})
  else()
    file(REMOVE ${folder}/cuda.toml) # of a configuration before
  endif()
endfunction()

kzoo_write_recipes(${PROJECT_BINARY_DIR}/recipes ${PROJECT_SOURCE_DIR}/sdk/include
                   ${PROJECT_BINARY_DIR}/sdk ${PROJECT_BINARY_DIR}/package
                   ${PROJECT_SOURCE_DIR}/sdk/cmake/plugin.exports)

# What `runner new` and `runner export` copy, as it is installed.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/sources)
foreach(path IN ITEMS sdk/template plugins sdk/src/manifest LICENSE)
  cmake_path(GET path FILENAME name)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${path} ${PROJECT_BINARY_DIR}/sources/${name} SYMBOLIC)
endforeach()
