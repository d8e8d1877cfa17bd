# expect_violations(<check> <rule>): ends a check that has put into `violations` what it found in
# `file_count` files of ROOT. The file EXPECTED lists what it has to find, one a line and sorted;
# without it there must be nothing.
function(expect_violations check rule)
  if(file_count EQUAL 0)
    message(FATAL_ERROR "${check}: ${ROOT} holds no files to look at, expected some")
  endif()
  set(expected)
  if(EXPECTED)
    file(STRINGS ${EXPECTED} expected)
  endif()
  list(SORT violations)
  if(NOT "${violations}" STREQUAL "${expected}")
    list(JOIN violations "\n  " found)
    list(JOIN expected "\n  " wanted)
    message(FATAL_ERROR "${check}: violations in ${ROOT} are\n  ${found}\nexpected\n  ${wanted}\n"
      "(${rule})")
  endif()
  message(STATUS "${check}: ${file_count} files are as expected")
endfunction()
