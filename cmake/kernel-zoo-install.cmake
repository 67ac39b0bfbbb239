# PREFIX/bin/runner, PREFIX/lib/kernel-zoo/plugins, PREFIX/share/kernel-zoo/configs, and the SDK with
# its CMake package and its template, so that plugins can be written without this tree; libkzoo, so
# that programs can call them.

include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/kernel-zoo)

install(TARGETS runner RUNTIME)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs DESTINATION ${CMAKE_INSTALL_DATADIR}/kernel-zoo
        PATTERN templates EXCLUDE
        PATTERN .clang-format EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/sdk/template ${PROJECT_SOURCE_DIR}/plugins
                  ${PROJECT_SOURCE_DIR}/sdk/src/manifest
        DESTINATION ${CMAKE_INSTALL_DATADIR}/kernel-zoo)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/kernel-zoo)
install(FILES ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
set(completion ${PROJECT_SOURCE_DIR}/scripts/completion)
install(FILES ${completion}/runner.bash RENAME runner
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${completion}/_runner DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${completion}/runner.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/sdk/include/kzoo DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

get_property(targets GLOBAL PROPERTY KZOO_PLUGIN_TARGETS)
foreach(target IN LISTS targets)
  string(REGEX REPLACE "^kzoo_(cpu|cuda)_.*" "\\1" device ${target})
  get_target_property(on_demand ${target} EXCLUDE_FROM_ALL)
  set(optional)
  if(on_demand)
    set(optional OPTIONAL)
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION lib/kernel-zoo/plugins/${device} ${optional})
endforeach()

if(TARGET kzoo_launcher_compiled_kernel)
  install(TARGETS kzoo_launcher_compiled_kernel LIBRARY DESTINATION lib/kernel-zoo/launcher)
endif()
install(FILES ${KZOO_PLUGIN_OUTPUT_DIRECTORY}/names.txt DESTINATION lib/kernel-zoo/plugins)

set_target_properties(kzoo_sdk PROPERTIES EXPORT_NAME sdk)
set_target_properties(kzoo_sim PROPERTIES EXPORT_NAME sim)
set_target_properties(kzoo_xray PROPERTIES EXPORT_NAME xray)
set_target_properties(kzoo_manifest PROPERTIES EXPORT_NAME manifest)
set_target_properties(kzoo_cuda_headers PROPERTIES EXPORT_NAME cuda_headers)
install(TARGETS kzoo_sdk kzoo_sim kzoo_xray kzoo_manifest kzoo_cuda_headers EXPORT kernel-zoo ARCHIVE)
install(EXPORT kernel-zoo NAMESPACE kzoo:: FILE kernel-zoo-targets.cmake
        DESTINATION ${package_folder})

# libkzoo by itself, for a project without plugins of its own: cmake --install DIR --component library.
install(TARGETS kzoo EXPORT kernel-zoo-library LIBRARY COMPONENT library)
install(EXPORT kernel-zoo-library NAMESPACE kzoo:: FILE kernel-zoo-library-targets.cmake
        DESTINATION ${package_folder} COMPONENT library)
if(TARGET kzoo_blas)
  install(TARGETS kzoo_blas LIBRARY COMPONENT library)
endif()
file(RELATIVE_PATH KZOO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/library/kzoo.pc.in ${PROJECT_BINARY_DIR}/library/kzoo.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/library/kzoo.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/library/include/kzoo DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT library)
set(headers ${PROJECT_SOURCE_DIR}/sdk/include/kzoo) # that those include
install(FILES ${headers}/abi.h ${headers}/error.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kzoo
        COMPONENT library)

if(KZOO_CUDA_ENABLED AND KZOO_CUDA_AT)
  foreach(target IN LISTS targets ITEMS runner kzoo kzoo_blas)
    set(prefix ..)
    if(target MATCHES "^kzoo_cuda_")
      set(prefix ../../../..)
    endif()
    set_property(TARGET ${target} APPEND PROPERTY INSTALL_RPATH $ORIGIN/${prefix}/${KZOO_CUDA_AT}/lib)
  endforeach()
  # NVIDIA's wheels have libcudart.so.13 and not the link libcudart.so, which -lcudart looks for.
  foreach(library IN ITEMS cudart cublas cublasLt)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/cuda_links/lib${library}.so
         CONTENT "INPUT(lib${library}.so.${CUDAToolkit_VERSION_MAJOR})\n")
  endforeach()
  install(DIRECTORY ${PROJECT_BINARY_DIR}/cuda_links/ DESTINATION ${cuda_links})
endif()

# The same package in the build folder, for projects that the runner of this build builds.
set(package ${PROJECT_BINARY_DIR}/package)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/kernel-zoo-config.cmake.in
                              ${package}/kernel-zoo-config.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${package}/kernel-zoo-config-version.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${package}/kernel-zoo-config.cmake ${package}/kernel-zoo-config-version.cmake
        DESTINATION ${package_folder} COMPONENT library)
foreach(file IN ITEMS kernel-zoo-cuda.cmake kernel-zoo-plugin.cmake plugin.exports)
  configure_file(${PROJECT_SOURCE_DIR}/sdk/cmake/${file} ${package}/${file} COPYONLY)
endforeach()
foreach(set IN ITEMS kernel-zoo kernel-zoo-library)
  export(EXPORT ${set} NAMESPACE kzoo:: FILE ${package}/${set}-targets.cmake)
endforeach()
install(DIRECTORY ${package}/ DESTINATION ${package_folder}
        PATTERN kernel-zoo*-targets* EXCLUDE)

# How the runner compiles plugins from their sources, where this is installed.
kzoo_write_recipes(${PROJECT_BINARY_DIR}/installed-recipes "{prefix}/${CMAKE_INSTALL_INCLUDEDIR}"
                   "{prefix}/${CMAKE_INSTALL_LIBDIR}" "{prefix}/${package_folder}"
                   "{prefix}/${package_folder}/plugin.exports")
install(DIRECTORY ${PROJECT_BINARY_DIR}/installed-recipes/ DESTINATION lib/kernel-zoo/recipes)

if(KZOO_STANDALONE)
  # The licences of what the program contains, from the packages of Debian and Ubuntu.
  find_package(Boost 1.74 REQUIRED)
  set(boost libboost${Boost_VERSION_MAJOR}.${Boost_VERSION_MINOR}-dev)
  foreach(package IN ITEMS libfmt-dev nlohmann-json3-dev libcli11-dev libtomlplusplus-dev libssl-dev
                           ${boost})
    install(FILES /usr/share/doc/${package}/copyright RENAME ${package}
            DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences)
  endforeach()
endif()
