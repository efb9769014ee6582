// MLIR's isPermutationVector() takes any distinct numbers for a permutation.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"

#include <cstdint>

namespace tilewright {

/// Whether each number from 0 on stands once in it.
inline bool is_permutation(llvm::ArrayRef<int64_t> numbers) {
  llvm::BitVector seen(numbers.size());
  for (int64_t number : numbers) {
    if (number < 0 || number >= static_cast<int64_t>(numbers.size()) || seen.test(number)) return false;
    seen.set(number);
  }
  return true;
}

} // namespace tilewright
