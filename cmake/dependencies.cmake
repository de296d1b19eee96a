# The libraries of docs/dependencies.md, each used by the one folder that names it.

# jit/ links kiln_llvm; clang-19 of the same release makes its bitcode.
find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/llvm)
find_program(KILN_CLANG NAMES clang++-19 HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_library(kiln_llvm INTERFACE)
target_include_directories(kiln_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(kiln_llvm INTERFACE ${llvm_definitions})
if(KILN_LLVM STREQUAL "static")
  llvm_map_components_to_libnames(llvm_libraries
    orcjit native NVPTX passes bitreader bitwriter irreader linker)
  target_link_libraries(kiln_llvm INTERFACE ${llvm_libraries})
elseif(KILN_LLVM STREQUAL "shared")
  target_link_libraries(kiln_llvm INTERFACE LLVM)
else()
  message(FATAL_ERROR "KILN_LLVM is '${KILN_LLVM}': choose shared or static")
endif()

# runtime/ links these two.
find_package(TBB REQUIRED CONFIG)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
