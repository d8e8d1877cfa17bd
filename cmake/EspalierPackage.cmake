# Debian packages by CPack: espalier (program, libraries, plugins, robots), libespalier-dev (headers
# and the CMake package), espalier-doc and, where they are built, python3-espalier and espalier-mpi.
# `./espalier package` configures, builds and checks them.
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
set(components runtime dev doc)
if(ESPALIER_PYTHON)
  list(APPEND components python)
endif()
if(TARGET espalier_mpi)
  list(APPEND components mpi)
endif()
foreach(component IN LISTS components)
  set(name_runtime espalier)
  set(name_dev libespalier-dev)
  set(name_doc espalier-doc)
  set(name_python python3-espalier)
  set(name_mpi espalier-mpi)
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
set(CPACK_COMPONENTS_ALL ${components})
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
# What other packages that link to the libraries depend on.
set(shlibs)
set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
foreach(library espalier espalier_kernel espalier_plugins espalier_sensing espalier_control
    espalier_simulation espalier_contact espalier_hdf5)
  string(APPEND shlibs "lib${library} ${soversion} espalier (= ${PROJECT_VERSION}-1)\n")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/packaging/shlibs CONTENT "${shlibs}" @ONLY)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${packaging}/triggers
  ${CMAKE_BINARY_DIR}/packaging/shlibs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "espalier-mpi, python3-espalier, libespalier-dev")
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
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-espalier)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
if(ESPALIER_PYTHON)
  math(EXPR next_minor "${ESPALIER_PYTHON_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "espalier (= ${PROJECT_VERSION}-1), python3-numpy, \
python3 (>= 3.${ESPALIER_PYTHON_MINOR}), python3 (<< 3.${next_minor})")
endif()
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS
  "python3-matplotlib, python3-pandas, python3-h5py, python3-distributed, python3-torch")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${packaging}/python/postinst
  ${packaging}/python/prerm)
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "dynamics of robots with closed loops - Python 3 module
Espalier computes the dynamics of robots whose limbs contain gears,
differentials, belts and four-bars.

This package has the Python module: arrays of NumPy in and out, one state or
thousands at once.")
set(CPACK_DEBIAN_MPI_PACKAGE_NAME espalier-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "espalier (= ${PROJECT_VERSION}-1), openmpi-bin")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/packaging/mpi/shlibs @ONLY
  CONTENT "libespalier_mpi ${soversion} espalier-mpi (= ${PROJECT_VERSION}-1)\n")
set(CPACK_DEBIAN_MPI_PACKAGE_CONTROL_EXTRA ${packaging}/triggers
  ${CMAKE_BINARY_DIR}/packaging/mpi/shlibs)
set(CPACK_DEBIAN_MPI_DESCRIPTION "dynamics of robots with closed loops - sweeps by MPI
Espalier computes the dynamics of robots whose limbs contain gears,
differentials, belts and four-bars.

This package has what `espalier sweep` opens under mpirun, where it divides
designs among many processes.")
include(CPack)
