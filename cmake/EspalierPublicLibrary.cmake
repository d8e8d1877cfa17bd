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
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} VERSION ${PROJECT_VERSION}
    INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
  # Nobody replaces its functions: the linker binds them, not every program's start.
  target_link_options(espalier_${room} PRIVATE LINKER:-Bsymbolic-functions)
endfunction()
