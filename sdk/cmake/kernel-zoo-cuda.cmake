# Decides whether plugins are built for CUDA as well as for the CPU, and for which architectures.
# A macro-like include, because enable_language() must be called at file scope.
#
#   KZOO_CUDA = AUTO (use nvcc when it is there), ON (fail without it), OFF
# gives KZOO_CUDA_ENABLED, and the CUDA language when that is true; and kzoo_ptx_alone(VARIABLE).

# Whether nothing but PTX is built, as where there is no GPU: what runs on one then is built elsewhere.
function(kzoo_ptx_alone variable)
  if(CMAKE_CUDA_ARCHITECTURES MATCHES "^[0-9]+a?-virtual$")
    set(${variable} TRUE PARENT_SCOPE)
  else()
    set(${variable} FALSE PARENT_SCOPE)
  endif()
endfunction()

set(KZOO_CUDA AUTO CACHE STRING "Build for CUDA: AUTO, ON or OFF")
set_property(CACHE KZOO_CUDA PROPERTY STRINGS AUTO ON OFF)
set(KZOO_CUDA_ENABLED FALSE)

if(KZOO_CUDA) # AUTO counts as true
  # A compiler that was named explicitly, else nvcc where it usually is.
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(KZOO_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda
                 PATH_SUFFIXES bin)
    mark_as_advanced(KZOO_NVCC)
    if(KZOO_NVCC)
      set(CMAKE_CUDA_COMPILER ${KZOO_NVCC})
    endif()
  endif()
  if(CMAKE_CUDA_COMPILER OR DEFINED ENV{CUDACXX})
    # In a project with LANGUAGES CUDA it is CMake that chose, nvcc's oldest: its choice has this help.
    get_property(kzoo_help CACHE CMAKE_CUDA_ARCHITECTURES PROPERTY HELPSTRING)
    if(NOT CMAKE_CUDA_ARCHITECTURES OR kzoo_help STREQUAL "CUDA architectures")
      if(NOT "$ENV{CUDAARCHS}" STREQUAL "")
        # Kept, since Ninja may configure again without it in its environment.
        set(kzoo_architectures $ENV{CUDAARCHS})
      else()
        # This machine's GPUs. Without one nothing can run here, so PTX is enough: it takes two
        # thirds of the time, and runs on any GPU that is supported.
        execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                        OUTPUT_VARIABLE kzoo_capabilities ERROR_QUIET
                        RESULT_VARIABLE kzoo_no_gpu OUTPUT_STRIP_TRAILING_WHITESPACE)
        if(NOT kzoo_no_gpu AND kzoo_capabilities MATCHES "^[0-9]+\\.[0-9]")
          string(REPLACE "." "" kzoo_capabilities "${kzoo_capabilities}")
          string(REGEX REPLACE "[ \r\n]+" ";" kzoo_capabilities "${kzoo_capabilities}")
          list(REMOVE_DUPLICATES kzoo_capabilities)
          list(TRANSFORM kzoo_capabilities APPEND "a" REGEX "^(9[0-9]|[0-9][0-9][0-9])$")
          list(TRANSFORM kzoo_capabilities APPEND "-real")
          set(kzoo_architectures ${kzoo_capabilities})
        else()
          set(kzoo_architectures 80-virtual)
        endif()
      endif()
      set(CMAKE_CUDA_ARCHITECTURES ${kzoo_architectures}
          CACHE STRING "CUDA architectures that plugins are built for" FORCE)
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(KZOO_CUDA_ENABLED TRUE)
    list(JOIN CMAKE_CUDA_ARCHITECTURES " " kzoo_architectures)
    message(STATUS "kernel-zoo: building for cpu and cuda (${kzoo_architectures}), "
                   "nvcc ${CMAKE_CUDA_COMPILER_VERSION}")
  elseif(NOT KZOO_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "KZOO_CUDA=ON, but there is no nvcc: install the CUDA toolkit, or set "
                        "CUDACXX to nvcc's path, or configure with -DKZOO_CUDA=OFF.")
  else()
    message(STATUS "kernel-zoo: no nvcc found, building for cpu only")
  endif()
else()
  message(STATUS "kernel-zoo: building for cpu only (KZOO_CUDA=${KZOO_CUDA})")
endif()
