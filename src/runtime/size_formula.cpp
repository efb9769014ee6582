#include "runtime/size_formula.h"

#include <bit>

namespace tilewright {

int64_t evaluate(SizeOperation operation, int64_t left, int64_t right) {
  switch (operation) {
  case SizeOperation::Equal: return left == right;
  case SizeOperation::NotEqual: return left != right;
  case SizeOperation::Less: return left < right;
  case SizeOperation::LessEqual: return left <= right;
  case SizeOperation::Quotient: return right == 0 ? kNoResult : left / right;
  case SizeOperation::Remainder: return right == 0 ? kNoResult : left % right;
  case SizeOperation::CeilQuotient: return left < 0 || right <= 0 ? kNoResult : left / right + (left % right != 0);
  case SizeOperation::PowerOfTwo:
    return left < 1 ? 1 : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(left)));
  }
  return 0;
}

} // namespace tilewright
