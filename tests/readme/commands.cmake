# Runs every command of README.md's block of commands, as a user would in the source tree.
#
#   cmake -DCLI=<command line> -DFOLDER=<source tree> -P commands.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/readme.cmake)

readme_between("<!-- test: commands -->\n```\n" "```" block)
string(REGEX MATCHALL "[^\n]+" commands "${block}")
if(NOT commands)
  message(FATAL_ERROR "README.md: the block of commands is empty, expected some")
endif()
foreach(command IN LISTS commands)
  if(NOT command MATCHES "^\\./espalier (.*)$")
    message(FATAL_ERROR "README.md: command is '${command}', expected one of ./espalier")
  endif()
  separate_arguments(arguments UNIX_COMMAND "${CMAKE_MATCH_1}")
  execute_process(COMMAND ${CLI} ${arguments} WORKING_DIRECTORY ${FOLDER}
    OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE code)
  if(NOT code EQUAL 0 OR out STREQUAL "")
    message(FATAL_ERROR "README.md: '${command}' exits with ${code}, expected 0 and some output\n"
      "${out}\n${err}")
  endif()
endforeach()
