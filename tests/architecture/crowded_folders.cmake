# Checks that a folder of code holds at most a dozen modules beside its folders: a header with its
# source is one.
#
#   cmake -DROOT=<tree> [-DMOST=<number>] [-DEXPECTED=<file>] -P crowded_folders.cmake
#
# ROOT is the tree to look at, MOST how many are allowed instead of 12, EXPECTED as in
# expect_violations.cmake.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/expect_violations.cmake)
if(NOT DEFINED MOST)
  set(MOST 12)
endif()

set(rooms kernel plugins joints subsystems formats algorithms host sensing control simulation cli
  python viewer charts benchmarks)
# One file for each thing that is looked up by its name: a joint type, a mechanism, an algorithm as
# printed, a subcommand, a module that users import, a test of such a module.
set(one_file_each joints subsystems algorithms/reference cli/commands python/espalier python/tests)

set(violations)
set(file_count 0)
set(folders)
foreach(room IN LISTS rooms)
  foreach(kind hpp cpp h py ts)
    file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${room}/*.${kind})
    foreach(file IN LISTS files)
      math(EXPR file_count "${file_count} + 1")
      cmake_path(GET file PARENT_PATH folder)
      cmake_path(GET file STEM LAST_ONLY module)
      list(APPEND folders "${folder}")
      list(APPEND modules_${folder} "${module}")
    endforeach()
  endforeach()
endforeach()
list(REMOVE_DUPLICATES folders)
foreach(folder IN LISTS folders)
  list(REMOVE_DUPLICATES modules_${folder})
  list(LENGTH modules_${folder} count)
  if(count GREATER MOST AND NOT folder IN_LIST one_file_each)
    list(APPEND violations "${folder} holds ${count} modules")
  endif()
endforeach()
expect_violations("crowded folders" "at most ${MOST} modules in a folder, grouped by what they are about")
