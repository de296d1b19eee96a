# The math of ir/core/math/kernels.cpp as LLVM bitcode that names no target, so that one copy serves
# every CPU and PTX.
#
#   kiln_math_bitcode(<variable>)       sets it to a generated source that embeds the bitcode
#   kiln_math_object(<variable> <name> <-march>)
#       sets it to an object file of the same bitcode for one ISA, each symbol prefixed by <name>_

find_program(KILN_OPT NAMES opt-19 HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
find_program(KILN_OBJCOPY NAMES objcopy REQUIRED)
set(KILN_MATH_DIR ${PROJECT_BINARY_DIR}/math)
set(KILN_BITCODE_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})

function(kiln_math_bitcode variable)
  set(source ${PROJECT_SOURCE_DIR}/ir/core/math/kernels.cpp)
  file(MAKE_DIRECTORY ${KILN_MATH_DIR})
  # Unoptimised text first: the passes then run without any target's cost model.
  add_custom_command(
    OUTPUT ${KILN_MATH_DIR}/kernels.ll
    COMMAND ${KILN_CLANG} -std=c++20 -O2 -I${PROJECT_SOURCE_DIR} -ffp-contract=off
      -fno-math-errno -fno-strict-aliasing -fno-exceptions -fno-ident
      -fno-asynchronous-unwind-tables -Wall -Wextra -Werror -Wno-psabi
      -Xclang -disable-llvm-passes -S -emit-llvm ${source} -o ${KILN_MATH_DIR}/kernels.ll
      -MD -MF ${KILN_MATH_DIR}/kernels.d -MT ${KILN_MATH_DIR}/kernels.ll
    DEPENDS ${source}
    DEPFILE ${KILN_MATH_DIR}/kernels.d
    VERBATIM)
  add_custom_command(
    OUTPUT ${KILN_MATH_DIR}/neutral.ll
    COMMAND ${CMAKE_COMMAND} -DIN=${KILN_MATH_DIR}/kernels.ll -DOUT=${KILN_MATH_DIR}/neutral.ll
      -P ${KILN_BITCODE_CMAKE_DIR}/strip_target.cmake
    DEPENDS ${KILN_MATH_DIR}/kernels.ll ${KILN_BITCODE_CMAKE_DIR}/strip_target.cmake
    VERBATIM)
  add_custom_command(
    OUTPUT ${KILN_MATH_DIR}/math.bc
    COMMAND ${KILN_OPT} -passes=default<O2> -vectorize-loops=false -vectorize-slp=false
      ${KILN_MATH_DIR}/neutral.ll -o ${KILN_MATH_DIR}/math.bc
    DEPENDS ${KILN_MATH_DIR}/neutral.ll
    VERBATIM)
  add_custom_command(
    OUTPUT ${KILN_MATH_DIR}/math_bitcode.cpp
    COMMAND ${CMAKE_COMMAND} -DIN=${KILN_MATH_DIR}/math.bc
      -DOUT=${KILN_MATH_DIR}/math_bitcode.cpp -P ${KILN_BITCODE_CMAKE_DIR}/embed.cmake
    DEPENDS ${KILN_MATH_DIR}/math.bc ${KILN_BITCODE_CMAKE_DIR}/embed.cmake
    VERBATIM)
  add_custom_target(kiln_math_bitcode DEPENDS ${KILN_MATH_DIR}/math.bc)
  set(${variable} ${KILN_MATH_DIR}/math_bitcode.cpp PARENT_SCOPE)
endfunction()

function(kiln_math_object variable name march)
  set(object ${KILN_MATH_DIR}/math_${name}.o)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${KILN_CLANG} -O2 -fPIC -march=${march} -Wno-override-module -c -x ir
      ${KILN_MATH_DIR}/math.bc -o ${object}
    COMMAND ${KILN_OBJCOPY} --prefix-symbols=${name}_ ${object}
    DEPENDS ${KILN_MATH_DIR}/math.bc kiln_math_bitcode
    VERBATIM)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${variable} ${object} PARENT_SCOPE)
endfunction()
