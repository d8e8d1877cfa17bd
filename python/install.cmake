# Where Debian's python3 finds modules under a prefix: /usr/lib/python3/dist-packages for /usr,
# <prefix>/lib/python3.11/dist-packages for others. The wheel says the folder itself.
if(NOT ESPALIER_PYTHON_INSTALL_DIR)
  if(CMAKE_INSTALL_PREFIX STREQUAL /usr)
    set(ESPALIER_PYTHON_INSTALL_DIR lib/python3/dist-packages)
  else()
    set(ESPALIER_PYTHON_INSTALL_DIR
      lib/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/dist-packages)
  endif()
endif()
set(package_dir ${ESPALIER_PYTHON_INSTALL_DIR}/espalier)
file(RELATIVE_PATH to_libraries /${package_dir} /${CMAKE_INSTALL_LIBDIR})
set_target_properties(espalier_python PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
install(TARGETS espalier_python LIBRARY DESTINATION ${package_dir} COMPONENT python)
install(FILES ${python_files} ${module_dir}/problems.json DESTINATION ${package_dir}
  COMPONENT python)
