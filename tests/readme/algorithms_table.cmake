# The table of algorithms in docs/algorithms.md is what `espalier list algorithms --markdown` prints.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/readme.cmake)
set(README ${CMAKE_CURRENT_LIST_DIR}/../../docs/algorithms.md)

set(ENV{ESPALIER_PLUGIN_PATH} "")
execute_process(COMMAND ${CLI} list algorithms --markdown
  OUTPUT_VARIABLE expected COMMAND_ERROR_IS_FATAL ANY)
readme_between("<!-- algorithms:begin -->\n" "<!-- algorithms:end -->" found)
if(WITHOUT)  # plugins whose libraries are not installed here, or left out
  string(REGEX REPLACE "\\| (${WITHOUT}) \\|[^\n]*\n" "" found "${found}")
endif()
if(NOT found STREQUAL expected)
  message(FATAL_ERROR "docs/algorithms.md: table of algorithms is\n${found}\nexpected\n${expected}\n"
    "(put the output of ./espalier list algorithms --markdown "
    "between the markers)")
endif()
