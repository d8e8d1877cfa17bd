# Written after vcpkg's documentation; not run.
vcpkg_cmake_configure(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.."
  OPTIONS -DESPALIER_TESTS=OFF -DESPALIER_ALGLIB=OFF -DESPALIER_UMFPACK=OFF -DESPALIER_VIEWER=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/espalier)
vcpkg_install_copyright(FILE_LIST "${CMAKE_CURRENT_LIST_DIR}/../../LICENSE")
