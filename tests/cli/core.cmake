# espalier-core, which the launcher runs until somebody asks for more, answers as espalier does.
cmake_minimum_required(VERSION 3.25)
set(ENV{ESPALIER_PLUGIN_PATH} "")
set(robot ${SOURCE}/robots/tello.yaml)
foreach(words "info;${robot};--json" "check;${robot};--json" "graph;${robot}"
    "eval;${robot};--algorithm;c-aba;--random;1;--json" "eval;${robot};--algorithm;none")
  foreach(program CORE WHOLE)
    execute_process(COMMAND ${${program}} ${words}
      OUTPUT_VARIABLE out_${program} ERROR_VARIABLE err_${program} RESULT_VARIABLE code_${program})
  endforeach()
  foreach(what out err code)
    if(NOT "${${what}_CORE}" STREQUAL "${${what}_WHOLE}")
      message(FATAL_ERROR "${words}: ${what} of espalier-core is\n${${what}_CORE}\n"
        "expected that of espalier\n${${what}_WHOLE}")
    endif()
  endforeach()
  set(expected 0)
  if(words MATCHES "none$")
    set(expected 2)  # wrong usage
  endif()
  if(NOT code_CORE STREQUAL expected)
    message(FATAL_ERROR "${words}: exits with ${code_CORE}, expected ${expected}\n${err_CORE}")
  endif()
endforeach()
# What needs the libraries on top is known to the whole program alone.
execute_process(COMMAND ${CORE} simulate ${robot} ERROR_VARIABLE err RESULT_VARIABLE code
  OUTPUT_QUIET)
if(NOT code EQUAL 2 OR NOT err MATCHES "subcommand 'simulate' is unknown")
  message(FATAL_ERROR "simulate: espalier-core exits with ${code}, expected 2\n${err}")
endif()
