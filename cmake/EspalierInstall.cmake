# `cmake --install` gives find_package(espalier CONFIG) with the targets espalier::espalier (for
# programs) and espalier::plugin (for plugin authors).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

install(TARGETS espalier_kernel espalier_plugins espalier_plugin espalier_host espalier_sensing
  espalier_control espalier_simulation espalier_contact EXPORT espalier
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev)
# Installed plugins have another time than those of the build tree.
install(CODE "execute_process(COMMAND \"$<TARGET_FILE:espalier_index>\"
  \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${ESPALIER_INSTALL_PLUGIN_DIR}\")" COMPONENT runtime)
foreach(room IN LISTS ESPALIER_PUBLIC_ROOMS)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/${room}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/espalier COMPONENT dev FILES_MATCHING PATTERN "*.hpp")
endforeach()
install(FILES plugins/plugin.hpp host/espalier.hpp host/errors.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/espalier COMPONENT dev)
install(DIRECTORY robots DESTINATION ${CMAKE_INSTALL_DATADIR}/espalier COMPONENT runtime)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/espalier)
install(EXPORT espalier NAMESPACE espalier:: FILE espalier-targets.cmake
  DESTINATION ${package_dir} COMPONENT dev)
configure_package_config_file(cmake/espalier-config.cmake.in
  ${CMAKE_BINARY_DIR}/espalier-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/espalier-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/espalier-config.cmake
  ${CMAKE_BINARY_DIR}/espalier-config-version.cmake cmake/EspalierAddPlugin.cmake
  DESTINATION ${package_dir} COMPONENT dev)
include(EspalierPackage)
