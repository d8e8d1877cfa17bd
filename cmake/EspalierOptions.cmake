# Options, warnings and sanitizers of the whole build.

option(ESPALIER_TESTS "Build tests and examples" ON)
option(ESPALIER_BENCHMARKS "Build benchmarks (Google Benchmark)" OFF)
option(ESPALIER_PYTHON "Build the Python module" OFF)
option(ESPALIER_FUZZ "Build fuzz targets (clang only)" OFF)
find_path(ESPALIER_BEAST boost/beast/core.hpp)
set(beast_is_there OFF)
if(ESPALIER_BEAST)
  set(beast_is_there ON)
endif()
option(ESPALIER_VIEWER "Build `espalier view` (Boost.Beast; its page by npm)" ${beast_is_there})
# The two libraries under the GPL: a program that loads a plugin linked with one is under it, too.
option(ESPALIER_ALGLIB "Solver of quadratic programs by ALGLIB (GPL): limits in task control" ON)
option(ESPALIER_UMFPACK "Sparse LU by UMFPACK of SuiteSparse (GPL) in sensing; else by Eigen" ON)
option(ESPALIER_WERROR "Warnings are errors, as in the presets" OFF)
set(ESPALIER_SANITIZE "" CACHE STRING "Sanitizers: address,undefined or thread")
set(ESPALIER_VARIANTS "x86-64-v3;x86-64-v4" CACHE STRING
  "Instruction sets that plugins of algorithms, joints, sub-mechanisms and packs are built for besides the baseline")
option(ESPALIER_ONE_VARIANT
  "Build each plugin once, for the widest of ESPALIER_VARIANTS that this processor has" OFF)
option(ESPALIER_UNITY "Compile several sources as one: a whole build takes less, a changed file more"
  OFF)

# The instruction sets of this processor, of which the loader will take the widest. Asked anew at
# each configuration: the folder may have come from another machine.
set(ESPALIER_PROCESSOR_VARIANTS "")
if(ESPALIER_ONE_VARIANT AND NOT CMAKE_CROSSCOMPILING)
  unset(level CACHE)
  try_run(level is_compiled ${CMAKE_BINARY_DIR}/processor ${CMAKE_SOURCE_DIR}/cmake/processor.cpp
    CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE said)
  if(NOT is_compiled)
    message(FATAL_ERROR "cmake/processor.cpp does not compile, expected a C++ compiler:\n${said}")
  endif()
  foreach(variant 3 4)
    if(level GREATER_EQUAL variant)
      list(APPEND ESPALIER_PROCESSOR_VARIANTS x86-64-v${variant})
    endif()
  endforeach()
endif()

# espalier_unity(<target> <sources in one> [ALONE <sources>...]): for libraries and programs of many
# small sources, most of whose compile time is headers and the templates in them. ALONE names those
# whose local names another source has, too.
function(espalier_unity target count)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "ALONE")
  if(ESPALIER_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${count})
    target_compile_options(${target} PRIVATE -Wno-shadow)  # of another source's local names
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # it takes the pieces of one file for headers
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
    set_source_files_properties(${arg_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# espalier_precompile(<name> [MODULES] HEADERS <header>... LIBRARIES <target>... [OF <target>]
#                     [OPTIONS <option>...]):
# headers that many programs read, or libraries and modules, compiled once with the flags of this
# folder, as a user of LIBRARIES reads them, or of a library OF whose own sources they are for;
# espalier_use_precompiled(<target> <name>) takes them. Only with ESPALIER_UNITY: other builds show
# which source forgets to include what it uses.
function(espalier_precompile name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MODULES" "OF" "HEADERS;LIBRARIES;OPTIONS")
  if(NOT ESPALIER_UNITY OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    return()
  endif()
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp CONTENT "")
  add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  if(arg_OF)  # which is built after them: no link
    target_include_directories(${name} PRIVATE
      $<TARGET_PROPERTY:${arg_OF},INTERFACE_INCLUDE_DIRECTORIES>)
    target_compile_definitions(${name} PRIVATE
      $<TARGET_PROPERTY:${arg_OF},INTERFACE_COMPILE_DEFINITIONS>)
    target_compile_options(${name} PRIVATE $<TARGET_PROPERTY:${arg_OF},INTERFACE_COMPILE_OPTIONS>)
  endif()
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
  target_compile_options(${name} PRIVATE -Wno-shadow ${arg_OPTIONS})
  if(NOT arg_MODULES)  # the flags of a program
    target_compile_options(${name} PRIVATE -fPIE)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  endif()
  # The compiled file names this folder: other clones cannot use it.
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "${launcher_without_cache}")
endfunction()

function(espalier_use_precompiled target name)
  if(TARGET ${name})
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
set(ESPALIER_PLUGIN_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/espalier/plugins)

# espalier_runpath(<target> <folders>...): where a library or program looks for libraries, installed
# as in the build tree, which is laid out alike. One that the installation changes would end with an
# empty part in the build tree, which is the working directory.
function(espalier_runpath target)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${ARGN}")
  if(NOT CMAKE_SKIP_INSTALL_RPATH)  # for folders that are searched anyway
    set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
  endif()
endfunction()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # clang spends a tenth of its time less when it takes its memory from jemalloc.
  find_library(ESPALIER_COMPILER_ALLOCATOR libjemalloc.so.2)
  set(compiler_environment "")
  if(ESPALIER_COMPILER_ALLOCATOR)
    set(compiler_environment LD_PRELOAD=${ESPALIER_COMPILER_ALLOCATOR})
  endif()
  set(launcher_without_cache env ${compiler_environment})
  find_program(ESPALIER_CCACHE ccache)
  if(ESPALIER_CCACHE)
    # Paths below the source tree count as relative, so that clones share the cache. Sources that
    # read precompiled headers are kept, too.
    list(APPEND compiler_environment CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
      CCACHE_SLOPPINESS=pch_defines,time_macros)
  endif()
  if(compiler_environment)
    set(CMAKE_CXX_COMPILER_LAUNCHER env ${compiler_environment})
  endif()
  if(ESPALIER_CCACHE)
    list(APPEND CMAKE_CXX_COMPILER_LAUNCHER ${ESPALIER_CCACHE})
  endif()
endif()

add_compile_options(-Wall -Wextra -Wpedantic)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # As clang: a local name may be a member's, and designated initializers may leave members out.
  add_compile_options(-Wshadow=local -Wno-missing-field-initializers)
else()
  add_compile_options(-Wshadow)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bug 105651: false alarm inside std::string at every `"text" + string`.
  add_compile_options(-Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # False alarms inside Boost.Graph and wherever a loop writes what another one reads.
  add_compile_options(-Wno-maybe-uninitialized)
endif()
if(ESPALIER_WERROR)
  add_compile_options(-Werror)
endif()
if(ESPALIER_SANITIZE)
  add_compile_options(-fsanitize=${ESPALIER_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${ESPALIER_SANITIZE})
  if(ESPALIER_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
