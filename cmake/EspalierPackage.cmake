# Debian packages by CPack: espalier (program, libraries, plugins, robots), libespalier-dev (headers
# and the CMake package) and espalier-doc. `./espalier package` configures, builds and checks them.
set(packaging ${CMAKE_CURRENT_SOURCE_DIR}/packaging/debian)
set(doc ${CMAKE_INSTALL_DATADIR}/doc)

# What Debian wants beside each package's files.
find_program(ESPALIER_GZIP gzip)
if(ESPALIER_GZIP)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/packaging)
  foreach(file changelog.Debian espalier.1)
    execute_process(COMMAND ${ESPALIER_GZIP} -9nc ${packaging}/${file}
      OUTPUT_FILE ${CMAKE_BINARY_DIR}/packaging/${file}.gz COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  execute_process(COMMAND ${ESPALIER_GZIP} -9nc ${CMAKE_CURRENT_SOURCE_DIR}/CHANGELOG.md
    OUTPUT_FILE ${CMAKE_BINARY_DIR}/packaging/changelog.gz COMMAND_ERROR_IS_FATAL ANY)
  install(FILES ${CMAKE_BINARY_DIR}/packaging/espalier.1.gz
    DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
endif()
foreach(component runtime dev doc)
  set(name_runtime espalier)
  set(name_dev libespalier-dev)
  set(name_doc espalier-doc)
  install(FILES ${packaging}/copyright DESTINATION ${doc}/${name_${component}}
    COMPONENT ${component})
  if(ESPALIER_GZIP)
    install(FILES ${CMAKE_BINARY_DIR}/packaging/changelog.Debian.gz
      ${CMAKE_BINARY_DIR}/packaging/changelog.gz
      DESTINATION ${doc}/${name_${component}} COMPONENT ${component})
  endif()
  install(FILES ${packaging}/${name_${component}}.lintian-overrides
    DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME ${name_${component}}
    COMPONENT ${component})
endforeach()
install(FILES README.md DESTINATION ${doc}/espalier-doc COMPONENT doc)
install(DIRECTORY docs examples DESTINATION ${doc}/espalier-doc COMPONENT doc
  PATTERN doxygen EXCLUDE)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME espalier)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "Espalier developers <espalier@localhost.localdomain>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL runtime dev doc)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
# Libraries of ours among each other.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME espalier)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS libassimp5)  # opened when a mesh is read
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "dynamics of robots with gears, differentials and closed loops
Espalier computes the dynamics of robots whose limbs contain gears,
differentials, belts and four-bars: exactly, at the price of a tree. It
finds the loops, grows a tree of clusters and runs recursive algorithms on
it. Joints, sub-mechanisms, file formats and algorithms are plugins.

This package has the command line, the libraries, the plugins and robots.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${packaging}/triggers)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libespalier-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "espalier (= ${PROJECT_VERSION}-1), libeigen3-dev (>= 3.4)")
set(CPACK_DEBIAN_DEV_DESCRIPTION "dynamics of robots with closed loops - development files
Espalier computes the dynamics of robots whose limbs contain gears,
differentials, belts and four-bars.

This package has the headers and the CMake package, for programs and for
plugins.")
set(CPACK_DEBIAN_DOC_PACKAGE_NAME espalier-doc)
set(CPACK_DEBIAN_DOC_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOC_DESCRIPTION "dynamics of robots with closed loops - documentation
Espalier computes the dynamics of robots whose limbs contain gears,
differentials, belts and four-bars.

This package has the documentation, the theory and the examples.")
include(CPack)
