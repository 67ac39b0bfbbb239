# kzoo_add_plugin(NAME name SOURCES file… [DEVICES cuda|cpu…] [NATIVE] [LINK library…] [ARCH arch…]
#                 [COMPILE_OPTIONS option…] [INCLUDE folder…] [ON_DEMAND])
#
# Builds the plugin `name`, once per device, as plugins/<device>/<name>.so.
#
#   SOURCES  .cu: CUDA C++ that is also ordinary C++ for the simulator. .cpp: host code.
#   DEVICES  default: both. A device that this build does not support is left out.
#   NATIVE   the cpu build runs at the CPU's own speed and does not need the simulator.
#   LINK     further libraries, for example CUDA::cublas.
#   ARCH     CUDA architectures, where they differ from CMAKE_CUDA_ARCHITECTURES: 90a-real for wgmma.
#   COMPILE_OPTIONS  of the compiler, for all devices: -DTILE=64.
#   INCLUDE  folders with headers, searched as if each were a compiler's own.
#   ON_DEMAND  It takes long to compile, and is built when its target is named (./zoo build NAME).
#
# The analysed build for `runner xray`, plugins/cpu-xray/<name>.so, is made when that asks for it: it
# finds in plugins/cpu-xray/<name>.build how.
#
# With KZOO_ASAN the cpu build is also made with AddressSanitizer, as plugins/cpu-asan/<name>.so, for
# `runner validate --tier paranoid`.
option(KZOO_ASAN "Build the cpu plugins with AddressSanitizer as well" OFF)

function(kzoo_add_plugin)
  cmake_parse_arguments(PARSE_ARGV 0 arg "NATIVE;ON_DEMAND" "NAME"
                        "SOURCES;DEVICES;LINK;ARCH;COMPILE_OPTIONS;INCLUDE")
  # A keyword that is misspelt is one more element of the list before it.
  foreach(word IN LISTS arg_SOURCES arg_DEVICES arg_LINK arg_ARCH arg_COMPILE_OPTIONS arg_INCLUDE
                        arg_UNPARSED_ARGUMENTS)
    if(word MATCHES "^[A-Z][A-Z_]+$")
      message(FATAL_ERROR "kzoo_add_plugin(${arg_NAME}): '${word}' is no keyword; these are: NAME "
                          "SOURCES DEVICES NATIVE LINK ARCH COMPILE_OPTIONS INCLUDE ON_DEMAND")
    endif()
  endforeach()
  if(NOT arg_NAME OR NOT arg_SOURCES)
    message(FATAL_ERROR "kzoo_add_plugin needs NAME and SOURCES")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kzoo_add_plugin(${arg_NAME}): unknown arguments '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT arg_DEVICES)
    set(arg_DEVICES cuda cpu)
  endif()
  # PTX alone, as for the other plugins, where there is no GPU: it takes two thirds of the time.
  kzoo_ptx_alone(ptx_alone)
  if(ptx_alone)
    list(TRANSFORM arg_ARCH REPLACE "-real$" "-virtual")
  endif()
  if(arg_ARCH)
    set(CMAKE_CUDA_ARCHITECTURES ${arg_ARCH}) # of the target, and in its build information
  endif()

  foreach(device IN LISTS arg_DEVICES)
    if(device STREQUAL "cuda")
      if(KZOO_CUDA_ENABLED)
        kzoo_add_plugin_module(cuda "${arg_NAME}" "${arg_SOURCES}" "${arg_LINK}")
        target_link_libraries(kzoo_cuda_${arg_NAME} PRIVATE CUDA::cudart)
        target_compile_definitions(kzoo_cuda_${arg_NAME} PRIVATE KZOO_TARGET_DEVICE=KZOO_CUDA)
        set_target_properties(kzoo_cuda_${arg_NAME} PROPERTIES KZOO_ARCH "${arg_ARCH}")
      endif()
    elseif(device STREQUAL "cpu")
      # The same file for the host compiler: a .cpp that includes it keeps errors and the debugger
      # on the author's own lines, and works where CMake knows no CUDA language.
      set(cpu_sources)
      foreach(source IN LISTS arg_SOURCES)
        if(source MATCHES "\\.cu$")
          cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE absolute)
          cmake_path(GET source STEM stem)
          set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}_cpu_${stem}.cpp)
          file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"${absolute}\"\n")
          list(APPEND cpu_sources ${wrapper})
        else()
          list(APPEND cpu_sources ${source})
        endif()
      endforeach()
      kzoo_add_cpu_plugin(cpu "${arg_NAME}" "${cpu_sources}" "${arg_LINK}" "${arg_NATIVE}")
      set_target_properties(kzoo_cpu_${arg_NAME} PROPERTIES KZOO_ARCH "${arg_ARCH}")
      if(NOT arg_NATIVE)
        kzoo_add_analysed_build("${arg_NAME}" "${cpu_sources}" "${arg_LINK}")
      endif()
      if(KZOO_ASAN)
        kzoo_add_cpu_plugin(cpu-asan "${arg_NAME}" "${cpu_sources}" "${arg_LINK}" "${arg_NATIVE}")
        target_compile_options(kzoo_cpu-asan_${arg_NAME} PRIVATE -fsanitize=address
                                                                 -fno-omit-frame-pointer)
        target_link_options(kzoo_cpu-asan_${arg_NAME} PRIVATE -fsanitize=address)
      endif()
    else()
      message(FATAL_ERROR "kzoo_add_plugin(${arg_NAME}): DEVICES are cuda and cpu, not '${device}'")
    endif()
    if(arg_ON_DEMAND AND TARGET kzoo_${device}_${arg_NAME})
      set_target_properties(kzoo_${device}_${arg_NAME} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
  endforeach()
  foreach(device IN ITEMS cuda cpu cpu-xray cpu-asan)
    if(TARGET kzoo_${device}_${arg_NAME})
      target_compile_options(kzoo_${device}_${arg_NAME} PRIVATE ${arg_COMPILE_OPTIONS})
      target_include_directories(kzoo_${device}_${arg_NAME} SYSTEM PRIVATE ${arg_INCLUDE})
    endif()
  endforeach()
endfunction()

function(kzoo_add_cpu_plugin device name sources link native)
  kzoo_add_plugin_module(${device} "${name}" "${sources}" "${link}")
  set(target kzoo_${device}_${name})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE KZOO_TARGET_DEVICE=KZOO_CPU)
  # g++ does not know #pragma unroll. On a GPU signed integers wrap, and a uint4 may be written as
  # eight halves.
  target_compile_options(${target} PRIVATE -Wno-unknown-pragmas -Wno-psabi -fwrapv
                                           -fno-strict-aliasing)
  if(native)
    target_compile_definitions(${target} PRIVATE KZOO_NATIVE=1)
  else()
    target_link_libraries(${target} PRIVATE kzoo::sim kzoo::cuda_headers)
  endif()
endfunction()

# Call-outs before each access and in each basic block, which kzoo::xray answers: no sanitizer's runtime
# is linked. What is left out would move accesses about, or split those of 16 bytes.
function(kzoo_add_analysed_build name sources link)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    return()
  endif()
  kzoo_add_cpu_plugin(cpu-xray "${name}" "${sources}" "${link}" "")
  set(target kzoo_cpu-xray_${name})
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  target_compile_options(
    ${target} PRIVATE -O1 -g1 -fsanitize=thread,bounds -fsanitize-coverage=trace-pc
                      -fno-reorder-blocks
                      -fno-tree-sra -fno-tree-vectorize -Wno-tsan)
  # First: what it defines is called by no other library.
  target_link_libraries(${target} PRIVATE -Wl,--whole-archive kzoo::xray -Wl,--no-whole-archive)
  get_target_property(folder ${target} LIBRARY_OUTPUT_DIRECTORY)
  file(CONFIGURE OUTPUT ${folder}/${name}.build
       CONTENT "${CMAKE_COMMAND}\n${CMAKE_BINARY_DIR}\n${target}\n")
endfunction()

# What the builds for both devices share: the target kzoo_<device>_<name>.
function(kzoo_add_plugin_module device name sources link)
  set(target kzoo_${device}_${name})
  add_library(${target} MODULE ${sources})
  target_link_libraries(${target} PRIVATE kzoo::sdk ${link})
  if(TARGET kzoo_warnings)
    target_link_libraries(${target} PRIVATE kzoo_warnings)
  endif()
  if(KZOO_PLUGIN_OUTPUT_DIRECTORY)
    set(output ${KZOO_PLUGIN_OUTPUT_DIRECTORY}/${device})
  else()
    set(output ${CMAKE_CURRENT_BINARY_DIR}/plugins/${device})
  endif()
  set_target_properties(
    ${target}
    PROPERTIES OUTPUT_NAME ${name} PREFIX "" SUFFIX ".so" LIBRARY_OUTPUT_DIRECTORY ${output}
               CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON CUDA_RUNTIME_LIBRARY Shared)
  set(exports ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plugin.exports)
  # An undefined symbol is an error when the plugin is linked, not when it is loaded. Only the
  # descriptor is exported, so that symbols of different plugins cannot clash.
  target_link_options(${target} PRIVATE LINKER:-z,defs
                      LINKER:--version-script=${exports})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${exports})
  kzoo_build_info(${device} info)
  target_compile_definitions(${target} PRIVATE "KZOO_BUILD_INFO=\"${info}\"")
  if(device MATCHES "^(cpu|cuda)$") # the others are neither tested as plugins nor installed
    set_property(GLOBAL APPEND PROPERTY KZOO_PLUGIN_TARGETS ${target})
  endif()
endfunction()

# One line for the record: which compilers, which kind of build, which architectures.
function(kzoo_build_info device out)
  set(info "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, ${CMAKE_BUILD_TYPE}")
  if(device STREQUAL "cuda")
    list(JOIN CMAKE_CUDA_ARCHITECTURES " " architectures)
    string(APPEND info ", nvcc ${CMAKE_CUDA_COMPILER_VERSION} for ${architectures}")
  endif()
  set(${out} "${info}" PARENT_SCOPE)
endfunction()
