# Writes the source files that "style: each header compiles by itself" compiles, and compiles them:
#   cmake -D ROOT=… -D WORK=… -D BUILD=… -P headers.cmake
# WORK/headers.txt names the headers, relative to ROOT. Without BUILD the files are written only.
#
# A header that includes another one is tested by the same file, after that one: what it finds there it
# would have included anyway. So a file has a chain of headers, each of which includes the one before
# it, and half of the headers need no file. Theirs is empty, so that the files are always as many.
cmake_minimum_required(VERSION 3.25...3.31)

function(find_in_tree name folder out)
  foreach(candidate IN ITEMS ${folder}/${name} runner/${name} sdk/include/${name}
                            library/include/${name})
    if(EXISTS ${ROOT}/${candidate} AND NOT IS_DIRECTORY ${ROOT}/${candidate})
      set(${out} ${candidate} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${out} "" PARENT_SCOPE)
endfunction()

# The files of this tree that a header includes, directly or not, whatever macros are defined.
function(find_included header)
  get_property(known GLOBAL PROPERTY "included ${header}" SET)
  if(known)
    return()
  endif()
  set_property(GLOBAL PROPERTY "included ${header}" "") # while it is being looked for
  cmake_path(GET header PARENT_PATH folder)
  file(STRINGS ${ROOT}/${header} lines REGEX "^ *# *(include|if|endif)")
  set(all)
  set(depth 0)
  foreach(line IN LISTS lines)
    if(line MATCHES "# *if")
      math(EXPR depth "${depth} + 1")
    elseif(line MATCHES "# *endif")
      math(EXPR depth "${depth} - 1")
    elseif(depth EQUAL 0 AND line MATCHES "[<\"]([^>\"]+)[>\"]")
      find_in_tree(${CMAKE_MATCH_1} ${folder} file)
      if(file)
        find_included(${file})
        get_property(further GLOBAL PROPERTY "included ${file}")
        list(APPEND all ${file} ${further})
      endif()
    endif()
  endforeach()
  list(REMOVE_DUPLICATES all)
  set_property(GLOBAL PROPERTY "included ${header}" "${all}")
endfunction()

file(STRINGS ${WORK}/headers.txt headers)
set(ranked)
foreach(header IN LISTS headers)
  find_included(${header})
  get_property(included GLOBAL PROPERTY "included ${header}")
  list(LENGTH included count)
  list(APPEND ranked "${count} ${header}")
endforeach()
list(SORT ranked COMPARE NATURAL ORDER DESCENDING) # a header comes before all that it includes
list(TRANSFORM ranked REPLACE "^[0-9]+ " "")

set(left ${ranked})
foreach(header IN LISTS ranked)
  set(includes "")
  set(last ${header})
  while(last IN_LIST left)
    list(REMOVE_ITEM left ${last})
    string(PREPEND includes "#include \"${ROOT}/${last}\"\n")
    get_property(included GLOBAL PROPERTY "included ${last}")
    foreach(next IN LISTS left)
      if(next IN_LIST included)
        set(last ${next})
        break()
      endif()
    endforeach()
  endwhile()
  file(CONFIGURE OUTPUT ${WORK}/${header}.cpp CONTENT "${includes}")
endforeach()
if(left OR NOT headers)
  message(FATAL_ERROR "no file tests: ${left}")
endif()

if(BUILD)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --target kzoo_headers --parallel 2
                  COMMAND_ERROR_IS_FATAL ANY)
endif()
