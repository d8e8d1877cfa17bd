# Checks that each x_test.cpp below ROOT/tests has the namespace x_test inside another one, as its
# only one: five tests are compiled as one source (espalier_add_test), where names of two of them
# would meet.
#
#   cmake -DROOT=<tree> [-DEXPECTED=<file>] -P test_namespaces.cmake
#
# ROOT is the tree to look at, EXPECTED as in expect_violations.cmake.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/expect_violations.cmake)

set(violations)
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/tests/*_test.cpp)
list(FILTER files EXCLUDE REGEX "^tests/architecture/fixture/")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  # Named ones at the margin: those inside are indented or have no name of their own.
  file(STRINGS ${ROOT}/${file} opened REGEX "^namespace [A-Za-z_]")
  list(FILTER opened EXCLUDE REGEX "=")  # another name for a namespace
  set(own FALSE)
  set(others FALSE)
  foreach(line IN LISTS opened)
    if(line MATCHES "^namespace ([a-z_]+::)+${name} {$")
      set(own TRUE)
    else()
      set(others TRUE)
    endif()
  endforeach()
  if(NOT own OR others)
    list(APPEND violations ${file})
  endif()
endforeach()
list(LENGTH files file_count)
expect_violations("test namespaces" "x_test.cpp starts with `namespace espalier::test::x_test {`")
