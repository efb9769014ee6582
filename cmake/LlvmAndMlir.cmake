# Finds LLVM and MLIR 19 as the distributions package them, and tells targets how to compile against them.
set(TILEWRIGHT_LLVM_VERSION 19)
find_program(LLVM_CONFIG NAMES llvm-config-${TILEWRIGHT_LLVM_VERSION} REQUIRED)
execute_process(COMMAND ${LLVM_CONFIG} --prefix OUTPUT_VARIABLE LLVM_PREFIX OUTPUT_STRIP_TRAILING_WHITESPACE)
find_package(MLIR REQUIRED CONFIG HINTS ${LLVM_PREFIX}/lib/cmake/mlir)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)

# Headers, and the flags LLVM itself was built with.
add_library(tilewright_llvm INTERFACE)
target_include_directories(tilewright_llvm SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_options(tilewright_llvm INTERFACE -fno-rtti)
target_link_libraries(tilewright_llvm INTERFACE MLIR LLVM)
