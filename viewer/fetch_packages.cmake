# Fetches the npm packages of package-lock.json into the working folder: cmake -DNPM=... -P
execute_process(COMMAND ${NPM} ci --no-audit --no-fund --loglevel=error --ignore-scripts
  RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "viewer: npm ci ended with ${status}, expected the packages of "
    "viewer/package-lock.json (is a registry within reach? npm config get registry; "
    "-DESPALIER_VIEWER=OFF builds without the viewer)")
endif()
