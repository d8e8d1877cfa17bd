# Installs the build into a prefix, moves that elsewhere, copies the examples outside both trees'
# reach, builds them with find_package(espalier CONFIG), runs them, and sees to it that nothing of
# the source or build tree took part.
cmake_minimum_required(VERSION 3.25)

# run(<command>...): fails with the command's output; else leaves its stdout in `output`.
function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${WORK}
    OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "install: '${command}' exits with ${code}, expected 0\n${out}\n${err}")
  endif()
  if(err MATCHES "warning")
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "install: '${command}' warns, expected no warning\n${err}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

# expect_only(<what> <text> <regex>): every path of the text that matches lies in the prefix or in
# the examples' own builds.
function(expect_only what text regex)
  string(REGEX MATCHALL "${regex}" paths "${text}")
  if(NOT paths)
    message(FATAL_ERROR "install: ${what} names no library of ours, expected some\n${text}")
  endif()
  foreach(path IN LISTS paths)
    string(FIND "${path}" "${WORK}/" in_work)
    if(in_work EQUAL -1)
      message(FATAL_ERROR "install: ${what} uses ${path}, expected a file below ${WORK}\n${text}")
    endif()
  endforeach()
endfunction()

set(ENV{LD_LIBRARY_PATH} "")
set(ENV{ESPALIER_PLUGIN_PATH} "")
set(ENV{CMAKE_PREFIX_PATH} "")
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
file(REAL_PATH ${WORK} WORK)

# A prefix that was moved proves that the package is relocatable.
set(prefix ${WORK}/moved)
run(${CMAKE_COMMAND} --install ${BUILD} --config ${CONFIG} --prefix ${WORK}/prefix)
file(RENAME ${WORK}/prefix ${prefix})

# No text of the package names the trees that it came from.
file(GLOB_RECURSE texts ${prefix}/*.cmake ${prefix}/*.hpp)
foreach(text IN LISTS texts)
  file(READ ${text} content)
  foreach(tree ${SOURCE}/ ${BUILD}/)
    string(FIND "${content}" "${tree}" position)
    if(NOT position EQUAL -1)
      message(FATAL_ERROR "install: ${text} names ${tree}, expected nothing of the build")
    endif()
  endforeach()
endforeach()
# What an author includes is self-contained.
foreach(header plugin espalier errors)
  if(NOT EXISTS ${prefix}/include/espalier/${header}.hpp)
    message(FATAL_ERROR "install: <espalier/${header}.hpp> is missing in ${prefix}/include")
  endif()
endforeach()

set(flags "-Wall -Wextra -Wpedantic -Werror")
if(SANITIZE)
  string(APPEND flags " -fsanitize=${SANITIZE}")
endif()
foreach(example external_plugin external_program)
  file(COPY ${SOURCE}/examples/${example} DESTINATION ${WORK}/source)
  run(${CMAKE_COMMAND} -S ${WORK}/source/${example} -B ${WORK}/${example} -G ${GENERATOR}
    -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_FLAGS=${flags}
    -DCMAKE_CXX_COMPILER=${COMPILER})
  run(${CMAKE_COMMAND} --build ${WORK}/${example})
endforeach()
set(program ${WORK}/external_program/external_program)
set(robot ${WORK}/source/external_plugin/rolling_finger.urdf)

# Which libraries they are linked to.
foreach(binary ${program} ${WORK}/external_plugin/rolling_joint.so ${prefix}/bin/espalier)
  run(ldd ${binary})
  expect_only("${binary}" "${output}" "[^ \n]*/libespalier[^ \n]*")
  if(output MATCHES "not found")
    message(FATAL_ERROR "install: ${binary} misses libraries\n${output}")
  endif()
endforeach()

# The program finds the installed plugins by itself and the author's by the environment.
set(ENV{ESPALIER_PLUGIN_PATH} ${WORK}/external_plugin)
run(${program} ${robot})
expect_only("${program}" "${output}" "plugin [^\n]*")
foreach(expected "/moved/[^\n]*/espalier_formats" "/moved/[^\n]*/espalier_forward_dynamics"
    "/external_plugin/rolling_joint" "acceleration knuckle " "acceleration middle ")
  if(NOT output MATCHES "${expected}")
    message(FATAL_ERROR "install: ${program} prints no '${expected}'\n${output}")
  endif()
endforeach()

# A program with Eigen of its own, built without a flag of ours.
run(${WORK}/external_program/eigen_beside ${prefix}/share/espalier/robots/ur5.urdf flange)
message(STATUS "install: ${output}")

# The installed command line does the same, and without the author's plugin says what is missing.
run(${prefix}/bin/espalier eval ${robot} --algorithm aba --random 1)
run(${prefix}/bin/espalier list plugins --json)
expect_only("${prefix}/bin/espalier" "${output}" "\"[^\"\n]*\\.so\"")
set(ENV{ESPALIER_PLUGIN_PATH} "")
execute_process(COMMAND ${program} ${robot} OUTPUT_QUIET ERROR_VARIABLE err RESULT_VARIABLE code)
if(NOT code EQUAL 1 OR NOT err MATCHES "rolling")
  message(FATAL_ERROR "install: without the author's plugin ${program} exits with ${code} and says "
    "'${err}', expected 1 and the name of the joint type 'rolling'")
endif()
message(STATUS "install: built and run against ${prefix}")
