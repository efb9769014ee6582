#include "ir/interpreter_memory.h"

#include "ir/context.h"
#include "support/error.h"

#include <cstring>
#include <limits>

using namespace mlir;

namespace tilewright {

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

SubscriptRange whole_range(Operation* op, int64_t array_size, int64_t block_size, int block_dim) {
  if (array_size != block_size)
    fail(source_location(op->getLoc()), "{} takes {} elements for a whole dimension of {}", op_name(op), block_size,
         array_size);
  return {0, block_dim};
}

// The address of the array's element that a lane of an access stands for.
static char* element_address(Operation* op, const ArrayMemory& memory, ArrayRef<SubscriptRange> subscripts,
                             ArrayRef<int64_t> lane) {
  SmallVector<int64_t> index;
  for (const SubscriptRange& subscript : subscripts)
    index.push_back(subscript.first + (subscript.block_dim < 0 ? 0 : lane[subscript.block_dim]));
  int64_t offset = 0;
  bool inside = true;
  for (auto [i, size, stride] : llvm::zip_equal(index, memory.sizes, memory.type.getStrides())) {
    inside &= 0 <= i && i < size;
    offset += i * stride;
  }
  if (!inside)
    fail(source_location(op->getLoc()), "{} reaches element {} of {}, whose sizes are {}", op_name(op),
         index_text(index), memory.name, index_text(memory.sizes));
  return static_cast<char*>(memory.array.data()) + offset * memory.type.element_bytes();
}

static Lane read_element(const char* address, Type element, int64_t bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, address, bytes); // little-endian
  if (element.isInteger(1)) bits = bits != 0;
  return lane_from_bits(bits, element);
}

static void write_element(char* address, const Lane& lane, Type element, int64_t bytes) {
  uint64_t bits = lane_bits(lane, element);
  std::memcpy(address, &bits, bytes);
}

BlockValue load(Operation* op, const ArrayMemory& memory, ArrayRef<SubscriptRange> subscripts, ArrayRef<int64_t> shape,
                ArrayRef<int64_t> bounds) {
  Type element = memory.type.getElementType();
  BlockValue result(element, shape);
  std::fill(result.lanes.begin(), result.lanes.end(), Lane::missing());
  for_each_index(bounds, [&](ArrayRef<int64_t> index) {
    result.at(index) =
        read_element(element_address(op, memory, subscripts, index), element, memory.type.element_bytes());
  });
  return result;
}

void store(Operation* op, const BlockValue& value, const ArrayMemory& memory, ArrayRef<SubscriptRange> subscripts,
           ArrayRef<int64_t> bounds) {
  for_each_index(bounds, [&](ArrayRef<int64_t> index) {
    const Lane& lane = value.at(index);
    if (lane.state != LaneState::Exists)
      fail(source_location(op->getLoc()), "{} to {} writes lane {}, which {}", op_name(op), memory.name,
           index_text(index), lane.state == LaneState::Missing ? "does not exist" : "holds no defined number");
    write_element(element_address(op, memory, subscripts, index), lane, value.element, memory.type.element_bytes());
  });
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static DType dtype_of_element(Operation* op, Type element) {
  if (element.isInteger(1)) return boolean;
  if (element.isInteger(8)) return int8;
  if (element.isInteger(16)) return int16;
  if (element.isInteger(32)) return int32;
  if (element.isInteger(64)) return int64;
  if (element.isF16()) return float16;
  if (element.isBF16()) return bfloat16;
  if (element.isF32()) return float32;
  if (element.isF64()) return float64;
  fail(source_location(op->getLoc()), "the interpreter does not know arrays of {}", type_text(element));
}

ArrayMemory bind_array(Operation* op, const Array& array, ArrayType type, std::string name) {
  SourceLocation location = source_location(op->getLoc());
  if (!type.is_pinned()) fail(location, "{} has no pinned type, but {}", name, type_text(type));
  DType dtype = dtype_of_element(op, type.getElementType());
  bool same_bits = array.defined() && array.dtype() == uint8 && dtype == int8; // arith's i8 is either
  if (!array.defined() || (array.dtype() != dtype && !same_bits))
    fail(location, "{} must be an array of {}, found {}", name, tilewright::name(dtype),
         array.defined() ? tilewright::name(array.dtype()) : "no array");
  SmallVector<int64_t> sizes = type.sizes(), found(array.sizes().begin(), array.sizes().end());
  if (sizes != found)
    fail(location, "{} is pinned to the sizes {}, found {}", name, index_text(sizes), index_text(found));
  for (int dim = 0; dim < array.rank(); ++dim)
    if (array.numel() > 0 && sizes[dim] > 1 && array.strides()[dim] != type.stride(dim))
      fail(location, "{} is pinned to the strides {}, found {}", name, index_text(type.getStrides()),
           index_text(SmallVector<int64_t>(array.strides().begin(), array.strides().end())));
  if (reinterpret_cast<uintptr_t>(array.data()) % type.known_alignment() != 0)
    fail(location, "{} is pinned to an alignment of {} bytes", name, type.known_alignment());
  return {array, type, sizes, std::move(name)};
}

Array make_allocation(Operation* op, ArrayType type) {
  if (!type.is_pinned())
    fail(source_location(op->getLoc()), "an allocation has no pinned type, but {}", type_text(type));
  Array array = Array::empty(IndexList(type.sizes()), dtype_of_element(op, type.getElementType()));
  Type element = type.getElementType();
  if (is_real(element)) return array.fill(std::numeric_limits<double>::quiet_NaN());
  return array.fill(element.isInteger(1) ? 1 : llvm::minIntN(element.getIntOrFloatBitWidth()));
}

static Lane lane_of_number(Operation* op, const InterpreterArgument& argument, Type type, const std::string& name) {
  const double* real = std::get_if<double>(&argument);
  const int64_t* integer = std::get_if<int64_t>(&argument);
  if (is_real(type) && real) return real_lane(*real, type);
  if (is_real(type) && integer) return real_lane_from_integer(*integer, /*is_signed=*/true, type);
  if (!is_real(type) && integer) return integer_lane(*integer, type);
  fail(source_location(op->getLoc()), "{} must be a number of type {}", name, type_text(type));
}

void bind_arguments(FunctionOpInterface unit, ArrayRef<InterpreterArgument> arguments, Environment& environment) {
  if (arguments.size() != unit.getNumArguments())
    fail(source_location(unit.getLoc()), "'{}' takes {} arguments, found {}", unit.getName().str(),
         unit.getNumArguments(), arguments.size());
  for (auto [i, value, argument] : llvm::enumerate(unit.getArguments(), arguments)) {
    auto user_name = unit.getArgAttrOfType<StringAttr>(i, "tile.name");
    std::string name = user_name ? fmt::format("'{}'", user_name.getValue().str()) : fmt::format("argument {}", i);
    if (auto type = dyn_cast<ArrayType>(value.getType())) {
      const Array* array = std::get_if<Array>(&argument);
      environment.set(value, bind_array(unit, array ? *array : Array(), type, name));
    } else {
      if (!value.getType().isIntOrIndexOrFloat())
        fail(source_location(unit.getLoc()), "{} is of type {}, which no argument has", name,
             type_text(value.getType()));
      Lane lane = lane_of_number(unit, argument, value.getType(), name);
      environment.set(value, BlockValue::scalar(value.getType(), lane));
    }
  }
}

} // namespace tilewright
