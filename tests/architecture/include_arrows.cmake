# Checks that arrows point one way:
#   kernel <- plugins <- {joints, subsystems, algorithms, formats} <- {cli, tests, ...}
# and that one file alone knows Boost.DLL.
#
#   cmake -DROOT=<tree> [-DEXPECTED=<file>] -P include_arrows.cmake
#
# ROOT is the tree to look at. EXPECTED lists the violations that have to be found, one a line and
# sorted; without it there must be none.
cmake_minimum_required(VERSION 3.25)

# What the files of a part must not include. Formats are a part within plugins/.
set(house_rooms joints subsystems algorithms cli examples tests benchmarks)
set(forbidden_kernel plugins formats ${house_rooms})
set(forbidden_plugins formats ${house_rooms})
set(forbidden_formats ${house_rooms})
foreach(part joints subsystems algorithms)
  set(forbidden_${part} formats ${house_rooms})
  list(REMOVE_ITEM forbidden_${part} ${part})
endforeach()

# part_of(<path> <out>): the part that a path relative to ROOT belongs to.
function(part_of path out)
  if(path MATCHES "^plugins/formats/")
    set(${out} formats PARENT_SCOPE)
  else()
    string(REGEX REPLACE "/.*" "" part "${path}")
    set(${out} ${part} PARENT_SCOPE)
  endif()
endfunction()

# included_path(<file> <include> <out>): the included path relative to ROOT.
function(included_path file include out)
  string(REGEX REPLACE "^espalier/" "" path "${include}")
  get_filename_component(folder ${file} DIRECTORY)
  if(include MATCHES "^\\.\\.?/" OR EXISTS ${ROOT}/${folder}/${include})
    cmake_path(SET path NORMALIZE "${folder}/${include}")
  endif()
  set(${out} "${path}" PARENT_SCOPE)
endfunction()

set(violations)
set(file_count 0)
foreach(part kernel plugins joints subsystems algorithms)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${part}/*.hpp ${ROOT}/${part}/*.cpp)
  foreach(file IN LISTS files)
    math(EXPR file_count "${file_count} + 1")
    part_of(${file} from)
    file(STRINGS ${ROOT}/${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]*[\"<]")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^[ \t]*#[ \t]*include[ \t]*[\"<]([^\">]*).*" "\\1" include "${line}")
      if(include MATCHES "^boost/dll" AND NOT file STREQUAL "plugins/loader.cpp")
        list(APPEND violations "${file} includes ${include}")
      endif()
      included_path(${file} "${include}" path)
      part_of("${path}" to)
      if(to IN_LIST forbidden_${from})
        list(APPEND violations "${file} includes ${include}")
      endif()
    endforeach()
  endforeach()
endforeach()
list(SORT violations)

set(expected)
if(EXPECTED)
  file(STRINGS ${EXPECTED} expected)
endif()
if(file_count EQUAL 0)
  message(FATAL_ERROR "include arrows: ${ROOT} holds no source files, expected some")
endif()
if(NOT "${violations}" STREQUAL "${expected}")
  list(JOIN violations "\n  " found)
  list(JOIN expected "\n  " wanted)
  message(FATAL_ERROR "include arrows: violations in ${ROOT} are\n  ${found}\nexpected\n  ${wanted}\n"
    "(kernel <- plugins <- {joints, subsystems, algorithms, formats} <- {cli, tests, ...}; only "
    "plugins/loader.cpp includes Boost.DLL)")
endif()
message(STATUS "include arrows: ${file_count} files are as expected")
