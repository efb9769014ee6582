# Installs the libraries, the public headers and a package file for find_package(Tilewright).
include(CMakePackageConfigHelpers)

install(TARGETS tilewright_runtime tilewright EXPORT TilewrightTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET tilewright_cli)
  set_target_properties(tilewright_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR};${LLVM_PREFIX}/lib")
  install(TARGETS tilewright_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY include/tilewright DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Tilewright)
install(EXPORT TilewrightTargets NAMESPACE Tilewright:: DESTINATION ${package_dir})
configure_package_config_file(cmake/TilewrightConfig.cmake.in ${PROJECT_BINARY_DIR}/TilewrightConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TilewrightConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TilewrightConfig.cmake ${PROJECT_BINARY_DIR}/TilewrightConfigVersion.cmake
        DESTINATION ${package_dir})
