# No program, library or plugin of a build names a library under the GPL as one that it needs.
cmake_minimum_required(VERSION 3.25)
find_program(READELF readelf REQUIRED)
file(GLOB files ${BUILD}/bin/* ${LIBRARIES}/*.so ${LIBRARIES}/espalier/plugins/*.so)
list(LENGTH files count)
if(count LESS 20)  # the program, eight libraries, and a plugin for each problem
  message(FATAL_ERROR "${BUILD}: ${count} files were found, expected at least 20")
endif()
foreach(file IN LISTS files)
  execute_process(COMMAND ${READELF} -d ${file} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
  if(NOT dynamic MATCHES "\\(NEEDED\\)[^\n]*libc\\.so")
    message(FATAL_ERROR "${file}: nothing that it needs was read, expected libc at least")
  endif()
  # SuiteSparse: UMFPACK, and what it brings along.
  if(dynamic MATCHES "\\(NEEDED\\)[^\n]*lib(alglib|umfpack|cholmod|klu|spqr)[^\n]*")
    message(FATAL_ERROR "${file} is linked to a library under the GPL: ${CMAKE_MATCH_0}")
  endif()
endforeach()
