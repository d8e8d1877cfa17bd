# espalier_add_plugin(<target> <sources>... [VARIANTS] [SHARED <names>...] [LINK <libraries>...]
#                     [INCLUDE <folders>...])
#
# Builds <target>.so, a plugin. With VARIANTS it is built once more for each instruction set in
# ESPALIER_VARIANTS, as <target>.v3.so and so on; the loader takes the widest that the processor
# has. With ESPALIER_ONE_VARIANT it is built for that one alone, by the target <target>. Variants
# must hold only code whose results do not depend on the instruction set beyond rounding. SHARED
# names sources of espalier_share_sources(<name> <sources>...): they are compiled once for all
# plugins that name them, and each plugin takes in what it calls. Authors of plugins have these
# functions from find_package(espalier CONFIG).
function(espalier_share_sources name)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL PROPERTY espalier_shared_${name} ${ARGN})
endfunction()

function(espalier_add_plugin target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "VARIANTS" "" "SHARED;LINK;INCLUDE")
  set(instruction_sets baseline)
  if(arg_VARIANTS)
    list(APPEND instruction_sets ${ESPALIER_VARIANTS})
    if(ESPALIER_ONE_VARIANT)
      foreach(set IN LISTS ESPALIER_PROCESSOR_VARIANTS)  # the widest comes last
        if(set IN_LIST ESPALIER_VARIANTS)
          set(instruction_sets ${set})
        endif()
      endforeach()
      list(GET instruction_sets 0 instruction_sets)
      # Of a build with all of them before: the loader would take the widest.
      if(NOT instruction_sets STREQUAL baseline)
        file(REMOVE ${ESPALIER_PLUGIN_OUTPUT_DIRECTORY}/${target}.so)
      endif()
      foreach(suffix v3 v4)
        if(NOT instruction_sets STREQUAL x86-64-${suffix})
          file(REMOVE ${ESPALIER_PLUGIN_OUTPUT_DIRECTORY}/${target}.${suffix}.so)
        endif()
      endforeach()
    endif()
  endif()
  foreach(set IN LISTS instruction_sets)
    set(library ${target})
    set(file ${target})
    if(NOT set STREQUAL baseline)
      string(REPLACE "x86-64-" "" suffix ${set})
      if(NOT ESPALIER_ONE_VARIANT)
        set(library ${target}_${suffix})
      endif()
      set(file ${target}.${suffix})
    endif()
    add_library(${library} MODULE ${arg_UNPARSED_ARGUMENTS})
    espalier_compile_for(${set} ${library} ${arg_INCLUDE})
    target_link_libraries(${library} PRIVATE ${arg_LINK})
    set_target_properties(${library} PROPERTIES PREFIX "" OUTPUT_NAME ${file} SUFFIX .so)
    foreach(name IN LISTS arg_SHARED)
      set(objects espalier_${name}_${set})
      if(NOT TARGET ${objects})
        get_property(sources GLOBAL PROPERTY espalier_shared_${name})
        add_library(${objects} OBJECT ${sources})
        espalier_compile_for(${set} ${objects} ${arg_INCLUDE})
        target_compile_options(${objects} PRIVATE -ffunction-sections)
        if(COMMAND espalier_unity)  # Espalier's own
          espalier_unity(${objects} 0)
        endif()
        set_property(GLOBAL APPEND PROPERTY espalier_objects_${name} ${objects})
      endif()
      target_sources(${library} PRIVATE $<TARGET_OBJECTS:${objects}>)
      target_link_options(${library} PRIVATE -Wl,--gc-sections)
    endforeach()
    if(ESPALIER_PLUGIN_OUTPUT_DIRECTORY)
      set_target_properties(${library} PROPERTIES
        LIBRARY_OUTPUT_DIRECTORY ${ESPALIER_PLUGIN_OUTPUT_DIRECTORY})
    endif()
    if(ESPALIER_INSTALL_PLUGIN_DIR)
      set_property(GLOBAL APPEND PROPERTY ESPALIER_PLUGINS ${library})
      if(COMMAND espalier_link_for_start)  # Espalier's own
        espalier_link_for_start(${library})
        espalier_runpath(${library} "$ORIGIN/../..")
      endif()
      if(TARGET espalier_index)  # Espalier's own: a program opens them when it needs them
        add_custom_command(TARGET ${library} POST_BUILD
          COMMAND espalier_index $<TARGET_FILE:${library}> VERBATIM)
      endif()
      install(TARGETS ${library}
        LIBRARY DESTINATION ${ESPALIER_INSTALL_PLUGIN_DIR} COMPONENT runtime)
    endif()
  endforeach()
endfunction()

# Code of plugins for one instruction set. A folder whose plugins read the same headers names them in
# ESPALIER_PLUGIN_HEADERS; they are compiled once for each instruction set.
function(espalier_compile_for set target)
  target_link_libraries(${target} PRIVATE espalier::plugin)
  target_include_directories(${target} PRIVATE ${ARGN})
  set_target_properties(${target} PROPERTIES
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON)
  set(options "")
  if(NOT set STREQUAL baseline)
    set(options -march=${set})
    if(set STREQUAL x86-64-v4)
      # Single calls are faster without registers of 64 bytes. Packs use them all the same.
      list(APPEND options -mprefer-vector-width=256)
    endif()
  endif()
  target_compile_options(${target} PRIVATE ${options})
  if(ESPALIER_PLUGIN_HEADERS)
    set(headers espalier_plugin_headers_${set})
    if(NOT TARGET ${headers})
      espalier_precompile(${headers} MODULES HEADERS ${ESPALIER_PLUGIN_HEADERS}
        LIBRARIES espalier::plugin OPTIONS ${options})
    endif()
    espalier_use_precompiled(${target} ${headers})
  endif()
endfunction()
