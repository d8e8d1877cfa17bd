# Checks that arrows point one way (docs/architecture.md):
#   kernel <- plugins <- {joints, subsystems, formats, algorithms}
#   plugins <- host <- {sensing, control, simulation} <- {cli, python, viewer, tests, examples, benchmarks}
# inside algorithms/ that chains know nothing of segments and segments nothing of algorithms, inside
# kernel/ that algebra knows nothing of models; and that two files alone know Boost.DLL.
#
#   cmake -DROOT=<tree> [-DEXPECTED=<file>] -P include_arrows.cmake
#
# ROOT is the tree to look at, EXPECTED as in expect_violations.cmake.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/expect_violations.cmake)

set(ways_in cli python viewer examples tests benchmarks)
set(libraries sensing control simulation)
set(parts joints subsystems formats algorithms)
set(rooms kernel plugins ${parts} host ${libraries} ${ways_in})

# may_include_<room>: the rooms that its files may include besides their own.
set(may_include_kernel "")
set(may_include_plugins kernel)
foreach(part IN LISTS parts)
  set(may_include_${part} kernel plugins)
endforeach()
set(may_include_host kernel plugins)
foreach(library IN LISTS libraries)
  # Their plugins (solvers, integrators) share the algorithms' code.
  set(may_include_${library} kernel plugins host)
endforeach()
set(may_include_sensing/solvers kernel plugins sensing algorithms)

# Arrows inside a room: folder <- folder, as "<folder>:<folders that it must not include>".
set(inside_algorithms
  "linear_algebra:chains,segments,oracles,reference,differences,*"
  "chains:segments,oracles,reference,differences,*"
  "segments:oracles,reference,differences,*"
  "oracles:chains,segments,reference,differences"
  "reference:chains,segments,oracles,differences")
set(inside_kernel
  "scalar:spatial,graph,model,problems"
  "spatial:graph,model,problems"
  "graph:problems"
  "model:problems")

# path_of(<file> <include> <out>): the included path relative to ROOT.
function(path_of file include out)
  string(REGEX REPLACE "^espalier/" "" path "${include}")
  get_filename_component(folder ${file} DIRECTORY)
  if(include MATCHES "^\\.\\.?/" OR EXISTS ${ROOT}/${folder}/${include})
    cmake_path(SET path NORMALIZE "${folder}/${include}")
  endif()
  set(${out} "${path}" PARENT_SCOPE)
endfunction()

# parts_of(<path> <room> <folder>): "algorithms/chains/plan.hpp" -> algorithms, chains.
function(parts_of path room folder)
  string(REGEX MATCH "^([^/]*)/(([^/]*)/)?" unused "${path}")
  set(${room} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  set(${folder} "${CMAKE_MATCH_3}" PARENT_SCOPE)
endfunction()

set(violations)
set(file_count 0)
foreach(room kernel plugins ${parts} host ${libraries})
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${room}/*.hpp ${ROOT}/${room}/*.cpp)
  foreach(file IN LISTS files)
    math(EXPR file_count "${file_count} + 1")
    parts_of(${file} from from_folder)
    set(allowed ${from} ${may_include_${from}})
    if(DEFINED may_include_${from}/${from_folder})
      set(allowed ${from} ${may_include_${from}/${from_folder}})
    endif()
    set(not_inside "")
    foreach(rule IN LISTS inside_${from})
      if(rule MATCHES "^${from_folder}:(.*)")
        string(REPLACE "," ";" not_inside "${CMAKE_MATCH_1}")
      endif()
    endforeach()
    file(STRINGS ${ROOT}/${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]*[\"<]")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^[ \t]*#[ \t]*include[ \t]*[\"<]([^\">]*).*" "\\1" include "${line}")
      if(include MATCHES "^boost/dll" AND NOT file MATCHES "^plugins/(loader|mesh/mesh)\\.cpp$")
        list(APPEND violations "${file} includes ${include}")
      endif()
      path_of(${file} "${include}" path)
      parts_of("${path}" to to_folder)
      set(wrong FALSE)
      if(to IN_LIST rooms AND NOT to IN_LIST allowed)
        set(wrong TRUE)
      elseif(to STREQUAL from AND NOT to_folder STREQUAL from_folder)
        if(to_folder AND to_folder IN_LIST not_inside)
          set(wrong TRUE)
        elseif("*" IN_LIST not_inside AND to_folder AND
            NOT to_folder MATCHES "^(linear_algebra|chains|segments)$")
          set(wrong TRUE)  # a folder of algorithms
        endif()
      endif()
      if(wrong)
        list(APPEND violations "${file} includes ${include}")
      endif()
    endforeach()
  endforeach()
endforeach()
expect_violations("include arrows" "the arrows of docs/architecture.md; only plugins/loader.cpp and \
plugins/mesh/mesh.cpp include Boost.DLL")
