# Does what a page tells its reader to: writes its files, runs its commands, sees what is refused.
#
#   cmake -DCLI=<command line> -DPAGE=<page> -DWORK=<folder> -DSOURCE=<source tree>
#     -DPLUGINS=<folder of the pages' plugins> -P run.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/blocks.cmake)

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
foreach(folder robots examples)
  file(CREATE_LINK ${SOURCE}/${folder} ${WORK}/${folder} SYMBOLIC)
endforeach()

# What a page builds is in the folder that it names.
file(CREATE_LINK ${PLUGINS} ${WORK}/build SYMBOLIC)

function(tutorial_block kind argument text)
  if(kind STREQUAL file)
    file(WRITE ${WORK}/${argument} "${text}")
    return()
  elseif(NOT kind MATCHES "^(run|refused)$")
    return()
  endif()
  string(REGEX MATCHALL "[^\n]+" commands "${text}")
  foreach(command IN LISTS commands)
    if(NOT command MATCHES "^\\./espalier (.*)$")
      message(FATAL_ERROR "${PAGE}: command is '${command}', expected one of ./espalier")
    endif()
    separate_arguments(arguments UNIX_COMMAND "${CMAKE_MATCH_1}")
    execute_process(COMMAND ${CLI} ${arguments} WORKING_DIRECTORY ${WORK}
      OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE code)
    if(kind STREQUAL run AND (NOT code EQUAL 0 OR out STREQUAL ""))
      message(FATAL_ERROR "${PAGE}: '${command}' exits with ${code}, expected 0 and some output\n"
        "${out}\n${err}")
    endif()
    if(kind STREQUAL refused)
      string(FIND "${err}" "${argument}" position)
      if(code EQUAL 0 OR position EQUAL -1)
        message(FATAL_ERROR "${PAGE}: '${command}' exits with ${code} and says '${err}', expected a "
          "refusal with '${argument}'")
      endif()
    endif()
  endforeach()
endfunction()
tutorial_blocks(${PAGE})
