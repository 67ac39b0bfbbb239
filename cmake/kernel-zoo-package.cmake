# A package for Debian and Ubuntu of what is installed: `cpack -G DEB` in the build folder.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kernel-zoo)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
                                                GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "the authors of kernel-zoo")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What the runner compiles plugins with.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "g++, libboost-context${Boost_VERSION_MAJOR}.${Boost_VERSION_MINOR}-dev, cmake, ninja-build")
include(CPack)
