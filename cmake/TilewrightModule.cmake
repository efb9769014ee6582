# tilewright_module(NAME folder SOURCES a.cpp b.cpp [LLVM] [RUNTIME])
#
# One folder of src/ as an object library named tw_<NAME>. LLVM: it includes LLVM or MLIR headers, so it is compiled
# without RTTI and over the shared precompiled header. RUNTIME: it belongs to libtilewright_runtime, else to
# libtilewright.
function(tilewright_module name)
  cmake_parse_arguments(ARG "LLVM;RUNTIME" "" "SOURCES" ${ARGN})
  set(target tw_${name})
  add_library(${target} OBJECT ${ARG_SOURCES})
  tilewright_compile_options(${target})
  target_link_libraries(${target} PUBLIC fmt::fmt nlohmann_json::nlohmann_json)
  if(ARG_LLVM)
    target_link_libraries(${target} PUBLIC tilewright_llvm)
    target_precompile_headers(${target} REUSE_FROM tw_mlir_header)
    add_dependencies(${target} tile_dialect_generated)
  endif()
  if(ARG_RUNTIME)
    set_property(GLOBAL APPEND PROPERTY TILEWRIGHT_RUNTIME_MODULES ${target})
  else()
    set_property(GLOBAL APPEND PROPERTY TILEWRIGHT_COMPILER_MODULES ${target})
  endif()
endfunction()

# Include paths and warnings for our own code, library or executable.
function(tilewright_compile_options target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
                                               ${PROJECT_BINARY_DIR}/src)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 sees overflows in "literal" + std::string where there are none (GCC bug 105651).
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-stringop-overflow)
  endif()
  if(TILEWRIGHT_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# tilewright_llvm_executable(name a.cpp ...): a tool or test that uses LLVM, MLIR or the compiler's inner headers.
function(tilewright_llvm_executable target)
  add_executable(${target} ${ARGN})
  tilewright_compile_options(${target})
  target_link_libraries(${target} PRIVATE tilewright tilewright_llvm fmt::fmt nlohmann_json::nlohmann_json)
  # The precompiled header was made with -fPIC, where CMake would give an executable -fPIE.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
  target_precompile_headers(${target} REUSE_FROM tw_mlir_header)
  add_dependencies(${target} tile_dialect_generated)
endfunction()
