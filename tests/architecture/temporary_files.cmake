# Checks that sources below ROOT/tests ask for temporary files in tests/support/temporary_folder.hpp
# only: tests run side by side, and two of them that write a file of one name fail now and then.
#
#   cmake -DROOT=<tree> [-DEXPECTED=<file>] -P temporary_files.cmake
#
# ROOT is the tree to look at, EXPECTED as in expect_violations.cmake.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/expect_violations.cmake)

set(violations)
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/tests/*.cpp ${ROOT}/tests/*.hpp)
list(FILTER files EXCLUDE REGEX "^tests/architecture/fixture/")
list(REMOVE_ITEM files tests/support/temporary_folder.hpp)
foreach(file IN LISTS files)
  file(STRINGS ${ROOT}/${file} lines REGEX "temp_directory_path|TempDir|mkdtemp|mkstemp|tmpnam")
  if(lines)
    list(APPEND violations ${file})
  endif()
endforeach()
list(LENGTH files file_count)
expect_violations("temporary files" "use test::TemporaryFolder of tests/support/temporary_folder.hpp")
