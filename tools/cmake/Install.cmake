# `cmake --install`: the program, the library, its headers, and what find_package(Thalweg) needs.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Thalweg)
install(TARGETS thalweg_program RUNTIME COMPONENT program)
install(TARGETS thalweg EXPORT ThalwegTargets LIBRARY COMPONENT library NAMELINK_COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY runtime/include/thalweg DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT ThalwegTargets NAMESPACE Thalweg:: DESTINATION ${package_folder} COMPONENT development)
configure_package_config_file(tools/cmake/ThalwegConfig.cmake.in ${PROJECT_BINARY_DIR}/ThalwegConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ThalwegConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ThalwegConfig.cmake ${PROJECT_BINARY_DIR}/ThalwegConfigVersion.cmake
  DESTINATION ${package_folder} COMPONENT development)

# `cpack -G DEB` in the build folder makes a Debian package of it all.
set(CPACK_PACKAGE_NAME thalweg)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Actor-based asynchronous runtime for distributed deep learning")
set(CPACK_PACKAGE_CONTACT "the authors of Thalweg")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_GENERATOR DEB)
include(CPack)
