# Two ways out: `cmake --install` puts the module where Debian's python3 finds it under the prefix,
# beside the libraries that are installed anyway; the component python_wheel puts all that a wheel
# carries below one folder.

# /usr/lib/python3/dist-packages for /usr, <prefix>/lib/python3.11/dist-packages for others.
if(CMAKE_INSTALL_PREFIX STREQUAL /usr)
  set(python_dir lib/python3/dist-packages)
else()
  set(python_dir lib/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/dist-packages)
endif()
set(ESPALIER_PYTHON_INSTALL_DIR ${python_dir} CACHE STRING
  "Where the Python module is installed, relative to the prefix")
set(package_dir ${ESPALIER_PYTHON_INSTALL_DIR}/espalier)
file(RELATIVE_PATH to_libraries /${package_dir} /${CMAKE_INSTALL_LIBDIR})
# In a wheel the libraries are in espalier/lib, and the plugins where the loader looks beside them;
# in the build tree it is a link.
file(CREATE_LINK ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${module_dir}/lib SYMBOLIC)
espalier_runpath(espalier_python "$ORIGIN/lib" "$ORIGIN/${to_libraries}")
install(TARGETS espalier_python LIBRARY DESTINATION ${package_dir} COMPONENT python)
install(FILES ${python_files} ${module_dir}/problems.json DESTINATION ${package_dir}
  COMPONENT python)

set(wheel COMPONENT python_wheel EXCLUDE_FROM_ALL)
set(libraries espalier_kernel espalier_plugins espalier_host espalier_sensing espalier_control
  espalier_simulation espalier_contact)
install(TARGETS espalier_python LIBRARY DESTINATION espalier ${wheel})
install(TARGETS ${libraries} LIBRARY DESTINATION espalier/lib NAMELINK_SKIP ${wheel})
install(TARGETS espalier_threads LIBRARY DESTINATION espalier/lib/espalier ${wheel})
install(FILES ${python_files} ${module_dir}/problems.json DESTINATION espalier ${wheel})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/robots DESTINATION espalier ${wheel})

# plugins_below(<folder> <out>): targets of espalier_add_plugin() there and below.
function(plugins_below folder out)
  set(found)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL MODULE_LIBRARY)
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    plugins_below(${below} more)
    list(APPEND found ${more})
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()
set(plugins)
foreach(room joints subsystems formats algorithms host sensing control simulation)
  plugins_below(${CMAKE_SOURCE_DIR}/${room} found)
  list(APPEND plugins ${found})
endforeach()
install(TARGETS ${plugins} LIBRARY DESTINATION espalier/lib/espalier/plugins ${wheel})
add_custom_target(espalier_python_wheel DEPENDS espalier_python ${libraries} espalier_threads
  ${plugins})
