# The launcher in a clone where nothing is built: what it answers without compiling anything.
cmake_minimum_required(VERSION 3.25)
set(clone ${FOLDER}/clone)
file(REMOVE_RECURSE ${clone})
file(COPY ${SOURCE}/espalier DESTINATION ${clone})
file(COPY ${SOURCE}/cli/commands DESTINATION ${clone}/cli)
file(COPY ${SOURCE}/kernel/problems DESTINATION ${clone}/kernel)
file(COPY ${SOURCE}/algorithms DESTINATION ${clone})
set(ENV{ESPALIER_PLUGIN_PATH} "")
# What would install, configure or compile fails here.
foreach(program dpkg-query apt-get sudo cmake ninja)
  file(WRITE ${FOLDER}/refusing/${program} "#!/bin/sh\necho $0 was called\nexit 1\n")
  file(CHMOD ${FOLDER}/refusing/${program} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endforeach()
set(ENV{PATH} "${FOLDER}/refusing:$ENV{PATH}")

# answers(CODE TEXT WORDS...): exits with CODE and says TEXT, a regular expression.
function(answers code text)
  execute_process(COMMAND ${clone}/espalier ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE out
    RESULT_VARIABLE got)
  if(NOT got STREQUAL code OR NOT out MATCHES "${text}")
    message(FATAL_ERROR "./espalier ${ARGN}: exits with ${got} and says\n${out}\n"
      "expected ${code} and: ${text}")
  endif()
  if(EXISTS ${clone}/build)
    message(FATAL_ERROR "./espalier ${ARGN}: began a build, expected none")
  endif()
endfunction()

foreach(words "" --help -h help)
  answers(0 "espalier demo .*COMMAND is one of.*eval.*simulate.*view" ${words})
endforeach()
answers(2 "command 'evaluate' is unknown, expected one of assemble .* view" evaluate)
answers(2 "command 'evl' is unknown.*did you mean 'eval'" evl robot.yaml)
answers(2 "command 'evl' is unknown" --plugins folder --verbose evl robot.yaml)
answers(2 "0 folders are given, expected one" install)
answers(2 "problem 'forward_dynamics' is unknown .did you mean 'forward-dynamics'"
  eval robot.yaml --problem forward_dynamics)
answers(2 "algorithm 'ABA' is unknown .did you mean 'aba'" eval robot.yaml --algorithm ABA)
answers(2 "problem 'forward_dynamics' is unknown .did you mean 'forward-dynamics'"
  --overwrite eval robot.yaml --problem=forward_dynamics)
answers(2 "algorithm 'ABA' is unknown .did you mean 'aba'" eval --algorithm=ABA robot.yaml)
answers(2 "time is 'long', expected a number of seconds from 1" fuzz long)
answers(2 "'adress' is given, expected address, threads, quick or a number of seconds" sanitize adress)

# Help of one command of the launcher: its lines and no others.
foreach(command demo test view-test pictures record-instructions fuzz torture sanitize docs install
    package lint bench-suite python)
  foreach(word --help -h)
    answers(0 "^(  \./espalier ${command} [^\n]*\n(          [^\n]*\n)*)+$" ${command} ${word})
  endforeach()
endforeach()
answers(0 "all tests .release.*test variants.*test bsd" test asan --help)
answers(0 "clang-format alone" lint layout --help)
answers(0 "loops . clusters . accuracy" bench-suite --help)
answers(0 "loops . clusters . accuracy" bench-suite contact --help)
