# Reads pieces of README.md, or of the file that README names.
set(README ${CMAKE_CURRENT_LIST_DIR}/../../README.md)

# readme_between(<begin> <end> <out>): the text between two markers, each of which is there once.
function(readme_between begin end out)
  file(READ ${README} text)
  string(FIND "${text}" "${begin}" start)
  string(FIND "${text}" "${begin}" last REVERSE)
  if(start EQUAL -1 OR NOT start EQUAL last)
    message(FATAL_ERROR "${README}: marker '${begin}' is missing or there twice, expected it once")
  endif()
  string(LENGTH "${begin}" length)
  math(EXPR start "${start} + ${length}")
  string(SUBSTRING "${text}" ${start} -1 text)
  string(FIND "${text}" "${end}" stop)
  if(stop EQUAL -1)
    message(FATAL_ERROR "${README}: '${end}' is missing after '${begin}', expected it once")
  endif()
  string(SUBSTRING "${text}" 0 ${stop} text)
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# readme_block(<name> <language> <out>): the code block after <!-- test: <name> -->.
function(readme_block name language out)
  readme_between("<!-- test: ${name} -->\n```${language}\n" "```" block)
  set(${out} "${block}" PARENT_SCOPE)
endfunction()
