#include "ir/interpreter_memory.h"

#include "ir/context.h"
#include "ir/interpreter_bounds.h"
#include "runtime/device_print.h"
#include "support/error.h"

#include <algorithm>
#include <bit>
#include <cmath>
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

/// The array's element that a lane of an access stands for.
struct Element {
  char* address;
  int64_t number; // in row-major order
};

static int64_t index_along(Operation* op, const SubscriptRange& subscript, ArrayRef<int64_t> lane) {
  if (subscript.block_dim < 0) return subscript.first;
  if (!subscript.elements) return subscript.first + lane[subscript.block_dim];
  const Lane& element = subscript.elements->at(lane.slice(subscript.block_dim, subscript.elements->shape.size()));
  if (element.state != LaneState::Exists)
    fail(source_location(op->getLoc()), "{} at lane {} takes for an index what {}", op_name(op), index_text(lane),
         element.state == LaneState::Missing ? "does not exist" : "is no defined number");
  return element.integer;
}

static Element element_of(Operation* op, const ResolvedAccess& access, ArrayRef<int64_t> lane) {
  const ArrayMemory& memory = access.memory;
  SmallVector<int64_t> index;
  for (const SubscriptRange& subscript : access.subscripts) index.push_back(index_along(op, subscript, lane));
  int64_t offset = 0, number = 0;
  bool inside = true;
  for (auto [i, size, stride] : llvm::zip_equal(index, memory.sizes, memory.array.strides())) {
    inside &= 0 <= i && i < size;
    offset += i * stride;
    number = number * size + i;
  }
  if (!inside)
    fail(source_location(op->getLoc()), "{} reaches element {} of {}, whose sizes are {}", op_name(op),
         index_text(index), memory.name, index_text(memory.sizes));
  return {static_cast<char*>(memory.array.data()) + offset * memory.type.element_bytes(), number};
}

static bool is_masked_off(Operation* op, const ResolvedAccess& access, ArrayRef<int64_t> lane) {
  if (!access.mask) return false;
  const Lane& mask = access.mask->at(lane);
  if (mask.state != LaneState::Exists)
    fail(source_location(op->getLoc()), "{} has no mask for lane {}", op_name(op), index_text(lane));
  return !mask.integer;
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

static Lane read(const ArrayMemory& memory, const Element& at) {
  Lane lane = read_element(at.address, memory.type.value_element(), memory.type.element_bytes());
  if (memory.errors) lane.error = (*memory.errors)[at.number];
  if (memory.unrounded) lane.real = (*memory.unrounded)[at.number];
  return lane;
}

static void write(const ArrayMemory& memory, const Element& at, const Lane& lane) {
  write_element(at.address, lane, memory.type.value_element(), memory.type.element_bytes());
  if (memory.errors) (*memory.errors)[at.number] = lane.error;
  if (memory.unrounded) (*memory.unrounded)[at.number] = lane.real;
}

BlockValue load(Operation* op, const ResolvedAccess& access, ArrayRef<int64_t> shape) {
  BlockValue result(access.memory.type.value_element(), shape);
  std::fill(result.lanes.begin(), result.lanes.end(), Lane::missing());
  for_each_index(access.bounds, [&](ArrayRef<int64_t> index) {
    result.at(index) = is_masked_off(op, access, index) ? Lane{} : read(access.memory, element_of(op, access, index));
  });
  return result;
}

// The lane of a value that goes to memory.
static const Lane& written_lane(Operation* op, const ResolvedAccess& access, const BlockValue& value,
                                ArrayRef<int64_t> index) {
  const Lane& lane = value.at(index);
  if (lane.state != LaneState::Exists)
    fail(source_location(op->getLoc()), "{} to {} writes lane {}, which {}", op_name(op), access.memory.name,
         index_text(index), lane.state == LaneState::Missing ? "does not exist" : "holds no defined number");
  return lane;
}

void store(Operation* op, const ResolvedAccess& access, const BlockValue& value) {
  for_each_index(access.bounds, [&](ArrayRef<int64_t> index) {
    if (is_masked_off(op, access, index)) return;
    const Lane& lane = written_lane(op, access, value, index);
    write(access.memory, element_of(op, access, index), lane);
  });
}

//===----------------------------------------------------------------------===//
// Atomic accesses
//===----------------------------------------------------------------------===//

// Reads each element, and writes what `change` makes of it.
static BlockValue exchange(Operation* op, const ResolvedAccess& access, const BlockValue& value,
                           llvm::function_ref<Lane(ArrayRef<int64_t> index, const Lane& old)> change) {
  BlockValue result(value.element, value.shape);
  std::fill(result.lanes.begin(), result.lanes.end(), Lane::missing());
  for_each_index(access.bounds, [&](ArrayRef<int64_t> index) {
    Lane& old = result.at(index);
    old = Lane{};
    if (is_masked_off(op, access, index)) return;
    Element at = element_of(op, access, index);
    old = read(access.memory, at);
    write(access.memory, at, change(index, old));
  });
  return result;
}

static Lane combine_reals(AtomicKind kind, const Lane& old, const Lane& lane, Type element) {
  if (kind != AtomicKind::Add) {
    bool takes_lane = std::isnan(old.real) || (kind == AtomicKind::Max ? lane.real > old.real : lane.real < old.real);
    Lane result = takes_lane ? lane : old;
    result.error = std::max(old.error, lane.error);
    return result;
  }
  Lane result = real_lane(static_cast<long double>(old.real) + lane.real, element);
  CombinedError error(Reduction::Add, element);
  error.add(old);
  error.add(lane);
  result.error = error.of(result);
  return result;
}

static Lane combine_integers(AtomicKind kind, const Lane& old, const Lane& lane, Type element) {
  int64_t a = as_signed(old, element), b = as_signed(lane, element);
  if (element.isInteger(1)) a = old.integer, b = lane.integer; // false < true
  switch (kind) {
  case AtomicKind::Add: a = static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); break;
  case AtomicKind::And: a &= b; break;
  case AtomicKind::Or: a |= b; break;
  case AtomicKind::Xor: a ^= b; break;
  case AtomicKind::Max: a = std::max(a, b); break;
  case AtomicKind::Min: a = std::min(a, b); break;
  case AtomicKind::Exchange: a = b; break;
  }
  return integer_lane(a, element);
}

BlockValue atomic(AtomicOp op, const ResolvedAccess& access, const BlockValue& value) {
  return exchange(op, access, value, [&](ArrayRef<int64_t> index, const Lane& old) {
    const Lane& lane = written_lane(op, access, value, index);
    if (op.getKind() == AtomicKind::Exchange) return lane;
    return is_real(value.element) ? combine_reals(op.getKind(), old, lane, value.element)
                                  : combine_integers(op.getKind(), old, lane, value.element);
  });
}

BlockValue atomic_cas(AtomicCasOp op, const ResolvedAccess& access, const BlockValue& expected,
                      const BlockValue& value) {
  return exchange(op, access, value, [&](ArrayRef<int64_t> index, const Lane& old) {
    const Lane &wanted = written_lane(op, access, expected, index), &next = written_lane(op, access, value, index);
    return lane_bits(old, value.element) == lane_bits(wanted, value.element) ? next : old;
  });
}

void print(PrintOp op, const BlockValue* value, ArrayRef<int64_t> bounds, int64_t program) {
  std::string text = op.getText().str();
  if (!value) return print_from_device(text.c_str(), program, nullptr, 0, PrintedKind::nothing, 0);
  for_each_index(bounds, [&](ArrayRef<int64_t> index) {
    const Lane& lane = value->at(index);
    bool real = is_real(value->element), boolean = value->element.isInteger(1);
    print_from_device(text.c_str(), program, index.data(), static_cast<int64_t>(index.size()),
                      real      ? PrintedKind::real
                      : boolean ? PrintedKind::boolean
                                : PrintedKind::integer,
                      real ? std::bit_cast<int64_t>(lane.real) : lane.integer);
  });
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static DType dtype_of_element(Operation* op, Type element) {
  if (element.isInteger(1)) return boolean;
  if (element.isUnsignedInteger(8)) return uint8;
  if (element.isInteger(8)) return int8;
  if (element.isInteger(16)) return int16;
  if (element.isInteger(32)) return int32;
  if (element.isInteger(64)) return int64;
  if (element.isF16()) return float16;
  if (element.isBF16()) return bfloat16;
  if (element.isF32()) return float32;
  if (element.isF64()) return float64;
  if (element.isFloat8E4M3FN()) return float8_e4m3fn;
  if (element.isFloat8E5M2()) return float8_e5m2;
  fail(source_location(op->getLoc()), "the interpreter does not know arrays of {}", type_text(element));
}

// The sizes of a pinned array where s0, s1, ... are `symbols`.
static SmallVector<int64_t> sizes_of(ArrayType type, ArrayRef<int64_t> symbols) {
  return llvm::map_to_vector(type.getDims(), [&](DimAttr dim) { return dim.dim().evaluate(symbols); });
}

// The same memory with neighbouring dimensions merged, as a program sees it whose loops were flattened; the array
// itself where its dimensions do not add up to `sizes` so.
static Array with_merged_dims(const Array& array, ArrayRef<int64_t> sizes) {
  if (array.rank() <= static_cast<int>(sizes.size())) return array;
  SmallVector<int64_t> strides(sizes.size());
  auto merged_array = [&] {
    auto keep_alive = std::make_shared<Array>(array);
    return Array::from_pointer(array.data(), IndexList(sizes), IndexList(strides), array.dtype(), keep_alive);
  };
  if (array.numel() == 0) return llvm::is_contained(sizes, 0) ? merged_array() : array; // any strides will do
  strides.clear();
  int dim = array.rank();
  for (int64_t size : llvm::reverse(sizes)) {
    std::optional<int64_t> stride;
    int64_t merged = 1;
    while (dim > 0 && merged < size) {
      int64_t own = array.sizes()[--dim];
      if (own == 1) continue;
      if (!stride) stride = array.strides()[dim];
      if (array.strides()[dim] != *stride * merged) return array;
      merged *= own;
    }
    if (merged != size) return array;
    strides.push_back(stride.value_or(1));
  }
  while (dim > 0)
    if (array.sizes()[--dim] != 1) return array;
  std::reverse(strides.begin(), strides.end());
  return merged_array();
}

ArrayMemory bind_array(Operation* op, const Array& given, ArrayType type, ArrayRef<int64_t> symbols, std::string name) {
  SourceLocation location = source_location(op->getLoc());
  if (!type.is_pinned()) fail(location, "{} has no pinned type, but {}", name, type_text(type));
  bool may_be_merged = given.defined() && isa<ProgramOp>(op) && type.is_static();
  Array array = may_be_merged ? with_merged_dims(given, type.sizes()) : given;
  DType dtype = dtype_of_element(op, type.getElementType());
  bool same_bits = array.defined() && array.dtype() == uint8 && dtype == int8; // arith's i8 is either
  if (!array.defined() || (array.dtype() != dtype && !same_bits))
    fail(location, "{} must be an array of {}, found {}", name, tilewright::name(dtype),
         array.defined() ? tilewright::name(array.dtype()) : "no array");
  SmallVector<int64_t> sizes = sizes_of(type, symbols), found(array.sizes().begin(), array.sizes().end());
  if (sizes != found)
    fail(location, "{} is pinned to the sizes {}, found {}", name, index_text(sizes), index_text(found));
  for (int dim = 0; dim < array.rank(); ++dim)
    if (array.numel() > 0 && sizes[dim] > 1 && !ShapedType::isDynamic(type.stride(dim)) &&
        array.strides()[dim] != type.stride(dim))
      fail(location, "{} is pinned to the strides {}, found {}", name, index_text(type.getStrides()),
           index_text(SmallVector<int64_t>(array.strides().begin(), array.strides().end())));
  if (reinterpret_cast<uintptr_t>(array.data()) % type.known_alignment() != 0)
    fail(location, "{} is pinned to an alignment of {} bytes", name, type.known_alignment());
  return {array, type, sizes, std::move(name)};
}

Array make_allocation(Operation* op, ArrayType type, ArrayRef<int64_t> symbols) {
  if (!type.is_pinned())
    fail(source_location(op->getLoc()), "an allocation has no pinned type, but {}", type_text(type));
  Array array = Array::empty(IndexList(sizes_of(type, symbols)), dtype_of_element(op, type.getElementType()));
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
  for (const InterpreterArgument& argument : arguments)
    if (const Array* array = std::get_if<Array>(&argument); array && array->defined())
      environment.sizes.append(array->sizes().begin(), array->sizes().end());
  for (auto [i, value, argument] : llvm::enumerate(unit.getArguments(), arguments)) {
    auto user_name = unit.getArgAttrOfType<StringAttr>(i, "tile.name");
    std::string name = user_name ? fmt::format("'{}'", user_name.getValue().str()) : fmt::format("argument {}", i);
    if (auto type = dyn_cast<ArrayType>(value.getType())) {
      const Array* array = std::get_if<Array>(&argument);
      environment.set(value, bind_array(unit, array ? *array : Array(), type, environment.sizes, name));
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
