# espalier_link_for_start(<library>)
#
# Of what a program's start loads: nobody replaces its functions, and all that it exports is
# constant, so that the linker binds its names to itself, not every program's start; two parts of a
# file are mapped instead of four; and there is one table of names instead of two. Sanitizers know a
# class by the address of its name, of which there may then be several: there functions alone.
function(espalier_link_for_start library)
  set(symbolic -Bsymbolic)
  if(ESPALIER_SANITIZE)
    set(symbolic -Bsymbolic-functions)
  endif()
  target_link_options(${library} PRIVATE
    LINKER:${symbolic} LINKER:-z,noseparate-code LINKER:--hash-style=gnu)
endfunction()

# espalier_public_library(<room> [NAME <file name>])
#
# Names, versions and exports the shared library espalier_<room> that programs link as
# espalier::<room>. The file is libespalier_<room>.so, or lib<file name>.so.
function(espalier_public_library room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME" "")
  if(NOT arg_NAME)
    set(arg_NAME espalier_${room})
  endif()
  add_library(espalier::${room} ALIAS espalier_${room})
  set_target_properties(espalier_${room} PROPERTIES
    EXPORT_NAME ${room} OUTPUT_NAME ${arg_NAME}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} VERSION ${PROJECT_VERSION})
  espalier_runpath(espalier_${room} "$ORIGIN")
  espalier_link_for_start(espalier_${room})
endfunction()
