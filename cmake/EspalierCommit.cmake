# cmake -DSOURCE=<folder> -DOUT=<header> -P EspalierCommit.cmake: writes the commit that is built,
# with a '+' where files differ from it. Run by every build; the header changes with the commit only.
set(commit "unknown (no git repository)")
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE} describe --always --abbrev=10 --dirty=+ --exclude=*
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(commit ${described})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define ESPALIER_COMMIT \"${commit}\"\n" @ONLY)
