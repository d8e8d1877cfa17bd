# `./espalier install` in a clone where nothing is built: it configures, and asks for targets that
# this build has. What it would compile and install is left out.
cmake_minimum_required(VERSION 3.25)
set(clone ${FOLDER}/clone)
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${clone} ${FOLDER}/prefix ${FOLDER}/programs)
file(GLOB entries RELATIVE ${SOURCE} ${SOURCE}/*)
list(FILTER entries EXCLUDE REGEX "^build")
foreach(entry IN LISTS entries)
  file(CREATE_LINK ${SOURCE}/${entry} ${clone}/${entry} SYMBOLIC)
endforeach()
file(REMOVE ${clone}/espalier)  # which asks where it lies
file(COPY ${SOURCE}/espalier DESTINATION ${clone})

find_program(ninja ninja REQUIRED)
set(file_permissions PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
file(WRITE ${FOLDER}/programs/ninja "#!/bin/sh
case \" $* \" in
  *' kernel/all '*) folder=$2; shift 4; exec ${ninja} -C \"$folder\" -t query \"$@\" ;;
esac
exec ${ninja} \"$@\"
")
file(WRITE ${FOLDER}/programs/cmake "#!/bin/sh
[ \"$1\" != --install ] || exit 0
exec ${CMAKE_COMMAND} \"$@\"
")
file(CHMOD ${FOLDER}/programs/ninja ${FOLDER}/programs/cmake ${file_permissions})
set(ENV{PATH} "${FOLDER}/programs:$ENV{PATH}")

execute_process(COMMAND ${clone}/espalier install ${FOLDER}/prefix
  OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE code)
if(NOT code EQUAL 0 OR NOT out MATCHES "installed; in your own project")
  message(FATAL_ERROR "./espalier install: exits with ${code} and says\n${out}\nexpected 0 and what comes next")
endif()
