#include "ir/interpreter_value.h"

#include "ir/context.h"
#include "support/error.h"

#include <fmt/ranges.h>

using namespace mlir;

namespace tilewright {

BlockValue::BlockValue(Type element, ArrayRef<int64_t> shape) : element(element), shape(shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  lanes.resize(count);
}

BlockValue BlockValue::scalar(Type element, Lane lane) {
  BlockValue value(element, {});
  value.lanes[0] = lane;
  return value;
}

static int64_t row_major_offset(ArrayRef<int64_t> shape, ArrayRef<int64_t> index) {
  int64_t offset = 0;
  for (auto [size, i] : llvm::zip_equal(shape, index)) offset = offset * size + i;
  return offset;
}

Lane& BlockValue::at(ArrayRef<int64_t> index) { return lanes[row_major_offset(shape, index)]; }
const Lane& BlockValue::at(ArrayRef<int64_t> index) const { return lanes[row_major_offset(shape, index)]; }

int64_t Environment::integer(Operation* user, Value value) const {
  const Lane& lane = block(value).lanes[0];
  if (lane.state != LaneState::Exists)
    fail(source_location(user->getLoc()),
         "{} uses an undefined number (an integer division by zero, a shift past the "
         "width, or a conversion out of range)",
         op_name(user));
  return lane.integer;
}

void Environment::set_result(Operation* op, BlockValue result) {
  if (result.is_scalar() && result.lanes[0].state == LaneState::Missing)
    fail(source_location(op->getLoc()), "{} makes a scalar of a lane that does not exist", op_name(op));
  set(op->getResult(0), std::move(result));
}

void Environment::set_index(Operation* op, int64_t result) {
  set(op->getResult(0), BlockValue::scalar(op->getResult(0).getType(), {.integer = result}));
}

void for_each_index(ArrayRef<int64_t> shape, llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  if (llvm::is_contained(shape, 0)) return;
  SmallVector<int64_t> index(shape.size(), 0);
  for (;;) {
    visit(index);
    int dim = static_cast<int>(shape.size()) - 1;
    while (dim >= 0 && ++index[dim] == shape[dim]) index[dim--] = 0;
    if (dim < 0) return;
  }
}

std::string index_text(ArrayRef<int64_t> index) {
  return fmt::format("[{}]", fmt::join(index.begin(), index.end(), ", "));
}

std::string type_text(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string op_name(Operation* op) { return op->getName().getStringRef().str(); }

} // namespace tilewright
