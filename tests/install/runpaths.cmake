# No program or library of a build has an empty part in its list of folders for libraries: the loader
# takes it for the working directory, whoever wrote there.
cmake_minimum_required(VERSION 3.25)
find_program(READELF readelf REQUIRED)
file(GLOB files ${BUILD}/bin/* ${LIBRARIES}/*.so ${LIBRARIES}/espalier/*.so
  ${LIBRARIES}/espalier/plugins/*.so ${BUILD}/python/espalier/*.so)
set(lists 0)
foreach(file IN LISTS files)
  execute_process(COMMAND ${READELF} -d ${file} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
  if(dynamic MATCHES "\\((RUNPATH|RPATH)\\)[^\n]*\\[([^\n]*)\\]")
    math(EXPR lists "${lists} + 1")
    set(folders ${CMAKE_MATCH_2})
    if(":${folders}:" MATCHES "::")
      message(FATAL_ERROR "${file} looks for libraries in the working directory: '${folders}'")
    endif()
  endif()
endforeach()
if(lists LESS 20)  # the program, eight libraries, and a plugin for each problem
  message(FATAL_ERROR "${BUILD}: ${lists} files name folders for libraries, expected at least 20")
endif()
