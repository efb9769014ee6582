# Builds for finding bugs, each in a build folder of its own: TILEWRIGHT_SANITIZE=address or thread (scripts/test
# --sanitize), TILEWRIGHT_FUZZERS=ON with clang (docs/fuzzing.md). Only Tilewright's own code is instrumented: neither
# the distribution's libraries nor the code that the JIT makes.
set(TILEWRIGHT_SANITIZE "" CACHE STRING "address, thread or nothing")
set_property(CACHE TILEWRIGHT_SANITIZE PROPERTY STRINGS "" address thread)
option(TILEWRIGHT_FUZZERS "Build the libFuzzer targets of tests/fuzz; needs clang and its compiler-rt" OFF)

if(NOT TILEWRIGHT_SANITIZE MATCHES "^(address|thread)?$")
  message(FATAL_ERROR "TILEWRIGHT_SANITIZE is \"${TILEWRIGHT_SANITIZE}\"; it is address, thread or nothing")
endif()
if(TILEWRIGHT_FUZZERS AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "TILEWRIGHT_FUZZERS needs clang: configure with -DCMAKE_CXX_COMPILER=clang++-19")
endif()

if(TILEWRIGHT_SANITIZE)
  add_compile_options(-fsanitize=${TILEWRIGHT_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${TILEWRIGHT_SANITIZE})
endif()
if(TILEWRIGHT_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link -g1)
  # clang refuses MLIR 19's headers over libstdc++ as C++23, which nothing that is fuzzed needs.
  set(CMAKE_CXX_STANDARD 20)
endif()
