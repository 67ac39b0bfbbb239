{{#cuda}}
include(CMakeFindDependencyMacro)
find_dependency(CUDAToolkit)
{{/cuda}}
include(${CMAKE_CURRENT_LIST_DIR}/{{name}}-targets.cmake)
