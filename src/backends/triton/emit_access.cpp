// Loads, stores and atomic accesses: by pointers, block pointers and tensor descriptors.
#include "backends/triton/access_kind.h"
#include "backends/triton/kernel_emitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

using namespace mlir;

namespace tilewright::triton {

//===----------------------------------------------------------------------===//
// Lanes as indices, and masks
//===----------------------------------------------------------------------===//

// "m" for a coordinate named pid_m, or a loop's variable k.
static std::string dimension_of(StringRef begin) {
  StringRef first = begin.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  first.consume_front("pid_");
  first.consume_front("start_");
  return first == "pid" || first.empty() || llvm::isDigit(first[0]) || first == "tl" ? "" : first.str();
}

Code KernelEmitter::line(Value begin, int64_t size, StringRef wanted) {
  std::optional<int64_t> number = begin ? getConstantIntValue(begin) : std::optional<int64_t>(0);
  if (number && size == 1) return integer(*number);
  if (size == 1) return code_of(begin);
  std::pair<const void*, std::vector<int64_t>> key{number ? nullptr : begin.getAsOpaquePointer(),
                                                   {number.value_or(0), size}};
  if (auto known = lines_.find(key); known != lines_.end()) return known->second;
  Code lanes{fmt::format("tl.arange(0, {})", size), Binding::Atom, "int32", {size}};
  std::string name = wanted.empty() ? "cols" : wanted.str();
  if (number && *number > 0) lanes.text = fmt::format("tl.arange({}, {})", *number, *number + size);
  if (number && *number > 0 && !llvm::isPowerOf2_64(*number + size)) // its ends must be powers of two
    lanes = binary(integer(*number), "+", {fmt::format("tl.arange(0, {})", size), Binding::Atom, "int32", {size}},
                   Binding::Sum, "int32");
  if (number && *number < 0) lanes = binary(lanes, "-", integer(-*number), Binding::Sum, "int32");
  if (!number) {
    Code first = code_of(begin);
    lanes = binary(first, "+", lanes, Binding::Sum, first.type);
    std::string dimension = dimension_of(first.text);
    name = dimension.empty() ? "offs" : "offs_" + dimension;
  }
  Block* block = number ? &program_.block() : begin.getParentBlock();
  name = writer_.unique(name);
  writer_.line_in(block, name + " = " + lanes.text);
  return lines_[key] = Code{name, Binding::Atom, lanes.type, {size}};
}

// Sets a value over `rank` dimensions, from `first_dim` on, among those of a block.
Code KernelEmitter::spread(const Code& code, ArrayRef<int64_t> block_shape, int64_t first_dim, int64_t rank) {
  if (code.is_scalar()) return code;
  Code spread{"", Binding::Atom, code.type, {}};
  std::vector<std::string> subscripts;
  size_t next = 0;
  for (auto [dim, size] : llvm::enumerate(block_shape)) {
    if (size == 1) continue;
    const bool is_own = static_cast<int64_t>(dim) >= first_dim && static_cast<int64_t>(dim) < first_dim + rank;
    subscripts.emplace_back(is_own ? ":" : "None");
    spread.shape.push_back(is_own ? code.shape[next++] : 1);
  }
  if (!llvm::is_contained(subscripts, "None")) return code;
  spread.text = fmt::format("{}[{}]", code.within(Binding::Atom), fmt::join(subscripts, ", "));
  return spread;
}

std::optional<Code> KernelEmitter::lanes_mask(Value valid, ArrayRef<int64_t> shape, int64_t dim) {
  std::optional<Code> mask;
  for (const LaneLimit& limit : limits_of(valid, shape[dim])) {
    Code end = limit.end ? code_of(limit.end) : integer(limit.constant_end);
    Code condition = compare(spread(line(limit.begin, shape[dim]), shape, dim), "<", end);
    mask = mask ? binary(*mask, "&", condition, Binding::And, "int1") : condition;
  }
  return mask;
}

static ArrayRef<int64_t> shape_of(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getShape() : ArrayRef<int64_t>();
}

std::optional<Code> KernelEmitter::bounds_mask(Type type, OperandRange valid, ArrayRef<int32_t> dims) {
  std::optional<Code> mask;
  for (auto [lanes, dim] : llvm::zip(valid, dims)) {
    std::optional<Code> condition = lanes_mask(lanes, shape_of(type), dim);
    if (!condition) continue;
    mask = mask ? binary(*mask, "&", *condition, Binding::And, "int1") : condition;
  }
  return mask;
}

std::optional<Code> KernelEmitter::mask_of(AccessOp access) {
  std::optional<Code> mask;
  llvm::TypeSwitch<Operation*>(access.operation()).Case<LoadOp, StoreOp, AtomicOp, AtomicCasOp>([&](auto op) {
    mask = bounds_mask(access.block(), op.getValid(), op.getValidDims());
  });
  if (Value own = access.mask()) {
    Code code = code_of(own);
    mask = mask ? binary(*mask, "&", code, Binding::And, "int1") : code;
  }
  return mask ? std::optional(named_if_repeated(*mask, "mask")) : mask;
}

Code KernelEmitter::named_if_repeated(const Code& code, StringRef wanted) {
  if (code.binding == Binding::Atom) return code;
  ++written_[code.text];
  if (auto times = repeated_.find(code.text); times == repeated_.end() || times->second < 2) return code;
  // A name that was given in a block which has ended is not known here.
  if (auto known = named_.find(code.text); known != named_.end() && writer_.is_open(known->second.first))
    return known->second.second;
  Code name{writer_.unique(wanted), Binding::Atom, code.type, code.shape};
  writer_.line(name.text + " = " + code.text);
  named_[code.text] = {writer_.block(), name};
  return name;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

std::string KernelEmitter::array_name(AccessOp access) {
  unsigned number = cast<BlockArgument>(access.array()).getArgNumber();
  used_as_pointer_[number] = true;
  return codes_[access.array()].text;
}

Code KernelEmitter::address(AccessOp access) {
  ArrayType array = access.array_type();
  ArrayRef<int64_t> shape = shape_of(access.block());
  SmallVector<int64_t> sizes = array.sizes();
  std::vector<Code> scalars, lanes;
  int64_t largest_sum = 0;
  struct Term {
    Code index;
    int64_t stride, largest;
  };
  std::vector<Term> terms;
  llvm::SmallDenseSet<int> gathered;
  for (auto [dim, use] : llvm::enumerate(access.subscripts())) {
    Code index;
    switch (use.kind) {
    case Subscript::Whole:
    case Subscript::Block:
      index = spread(line(use.kind == Subscript::Block ? use.operand : Value(), shape[use.block_dim],
                          dim + 1 == static_cast<size_t>(array.rank()) ? "cols" : "rows"),
                     shape, use.block_dim);
      break;
    case Subscript::Scalar: index = code_of(use.operand); break;
    case Subscript::Gather:
    case Subscript::GatherWith:
      index = spread(code_of(use.operand), shape, use.block_dim, use.block_rank);
      if (index.type != "int64" && index.type != "int32") index = converted(index, "int32");
      break;
    case Subscript::Tile: refuse(access.operation(), "a subscript of tile IR");
    }
    if (index.text == "0") continue;
    const int64_t largest = std::max<int64_t>(sizes[dim] - 1, 0) * array.stride(dim);
    if (index.is_scalar() && array.stride(dim) == 0) continue;
    terms.push_back({index, array.stride(dim), largest});
    if (!index.is_scalar()) largest_sum += largest;
  }
  // Where the sum of lanes' offsets needs 64 bits though none of them does, the last one has them.
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const bool sum_is_wide = largest_sum > kMost;
  for (Term& term : terms) {
    const bool is_wide = term.largest > kMost || (sum_is_wide && !term.index.is_scalar());
    if (is_wide && term.index.type != "int64" && !term.index.is_literal()) term.index = converted(term.index, "int64");
    Code offset = term.index;
    if (term.index.is_literal() && !term.index.text.empty() && llvm::isDigit(term.index.text[0]))
      offset = integer(std::stoll(term.index.text) * term.stride);
    else if (term.stride != 1)
      offset = binary(term.index, "*", integer(term.stride), Binding::Product, term.index.type);
    (term.index.is_scalar() ? scalars : lanes).push_back(offset);
  }
  Code pointer{array_name(access), Binding::Atom, "pointer", {}};
  for (const Code& scalar : scalars) // a sum is added in parts
    pointer = {pointer.text + " + " + scalar.within(Binding::Sum), Binding::Sum, "pointer", {}};
  if (lanes.empty()) return pointer;
  Code sum = lanes[0];
  for (const Code& more : ArrayRef<Code>(lanes).drop_front()) sum = binary(sum, "+", more, Binding::Sum, sum.type);
  if (lanes.size() > 1) sum = named_if_repeated(sum, "offsets");
  return binary(pointer, "+", sum, Binding::Sum, "pointer");
}

// The offset of a block along one dimension.
static Value begin_of(const SubscriptUse& use) { return use.kind == Subscript::Whole ? Value() : use.operand; }

std::string KernelEmitter::block_pointer(AccessOp access, std::vector<int64_t>& checked) {
  ArrayType array = access.array_type();
  ArrayRef<int64_t> shape = shape_of(access.block());
  SmallVector<int64_t> sizes = array.sizes();
  Code base{array_name(access), Binding::Atom, "pointer"};
  std::vector<std::string> offsets;
  std::vector<int64_t> limits, strides, block;
  for (auto [dim, use] : llvm::enumerate(access.subscripts())) {
    Value begin = begin_of(use);
    Code first = begin ? code_of(begin) : integer(0);
    if (use.block_dim < 0 || shape[use.block_dim] == 1) {
      if (first.text == "0") continue;
      const int64_t largest = (sizes[dim] - 1) * array.stride(dim);
      if (largest > std::numeric_limits<int32_t>::max() && !first.is_literal()) first = converted(first, "int64");
      base = binary(base, "+", binary(first, "*", integer(array.stride(dim)), Binding::Product, first.type),
                    Binding::Sum, "pointer");
      continue;
    }
    std::optional<int64_t> limit = use.valid ? limit_of_block(use, shape[use.block_dim]) : std::nullopt;
    if (limit) checked.push_back(static_cast<int64_t>(limits.size()));
    offsets.push_back(first.type == "int64" ? converted(first, "int32").text : first.text);
    limits.push_back(limit.value_or(sizes[dim]));
    strides.push_back(array.stride(dim));
    block.push_back(shape[use.block_dim]);
  }
  // The fastest dimension first.
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, block.size()));
  llvm::stable_sort(order,
                    [&](int64_t a, int64_t b) { return strides[a] != strides[b] ? strides[a] < strides[b] : a > b; });
  return fmt::format("tl.make_block_ptr({}, {}, {}, {}, {}, {})", base.text, tuple(limits), tuple(strides),
                     tuple(offsets), tuple(block), tuple(order));
}

std::string KernelEmitter::descriptor(AccessOp access, std::string& offsets) {
  unsigned number = cast<BlockArgument>(access.array()).getArgNumber();
  ArrayRef<int64_t> shape = shape_of(access.block());
  Descriptor descriptor{number, "", {}};
  std::vector<std::string> firsts;
  for (const SubscriptUse& use : access.subscripts()) {
    Value begin = begin_of(use);
    Code first = begin ? code_of(begin) : integer(0);
    firsts.push_back(first.type == "int64" ? converted(first, "int32").text : first.text);
    descriptor.block.push_back(use.block_dim < 0 ? 1 : shape[use.block_dim]);
  }
  offsets = fmt::format("[{}]", fmt::join(firsts, ", "));
  for (const auto& [name, known] : descriptors_)
    if (known.argument == number && known.block == descriptor.block) return name;
  descriptor.name = writer_.unique(arguments_[number] + "_desc");
  descriptors_[descriptor.name] = descriptor;
  return descriptor.name;
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

static std::string eviction_text(std::optional<Eviction> eviction) {
  if (!eviction) return "";
  return *eviction == Eviction::First ? ", eviction_policy=\"evict_first\"" : ", eviction_policy=\"evict_last\"";
}

static std::string number_text(double value, const std::string& type) {
  if (value == std::numeric_limits<double>::infinity()) return "float(\"inf\")";
  if (value == -std::numeric_limits<double>::infinity()) return "float(\"-inf\")";
  const bool is_integer = StringRef(type).starts_with("int") || StringRef(type).starts_with("uint");
  return is_integer ? fmt::format("{}", static_cast<int64_t>(value)) : fmt::format("{:.1f}", value);
}

Code KernelEmitter::load_code(LoadOp load) {
  AccessOp access(load);
  std::string type = memory_type(access);
  SmallVector<int64_t> shape = squeezed_shape(load.getType());
  switch (access_kind(access)) {
  case Access::TensorDescriptor: {
    std::string offsets, name = descriptor(access, offsets);
    std::string text = fmt::format("{}.load({})", name, offsets);
    if (descriptors_[name].block != shape) text += fmt::format(".reshape({})", fmt::join(shape, ", "));
    return {text, Binding::Atom, type, shape};
  }
  case Access::BlockPtr: {
    std::vector<int64_t> checked;
    std::string pointer = block_pointer(access, checked);
    std::string bounds =
        checked.empty() ? "" : fmt::format(", boundary_check={}, padding_option=\"zero\"", tuple(checked));
    return {fmt::format("tl.load({}{}{})", pointer, bounds, eviction_text(load.getEviction())), Binding::Atom, type,
            shape};
  }
  case Access::Pointer: break;
  }
  Code pointer = address(access); // before the mask: it knows what its lanes are called
  std::optional<Code> mask = mask_of(access);
  std::string text = "tl.load(" + pointer.text;
  // A mask has no more lanes than the pointer.
  SmallVector<int64_t> lanes = mask ? common_shape({pointer, *mask}) : pointer.shape;
  if (lanes != pointer.shape) text = fmt::format("tl.load(tl.broadcast_to({}, {})", pointer.text, tuple(lanes));
  if (mask) text += ", mask=" + mask->text;
  if (mask) {
    std::optional<double> filling = load.getMask() ? std::optional<double>(0.0) : missing_.filling(load);
    if (filling) text += ", other=" + number_text(*filling, type);
  }
  text += eviction_text(load.getEviction()) + ")";
  return {text, Binding::Atom, type, lanes};
}

void KernelEmitter::emit_load(LoadOp load) {
  if (load->use_empty()) return;
  Code code = load_code(load);
  std::string name;
  bool ends = false;
  if (auto array = cast<BlockArgument>(load.getArray()); true) name = arguments_[array.getArgNumber()];
  std::vector<std::string> names = writer_.names_on_line(load.getLoc());
  // Where the line is only the load, the user has named it.
  ends = names.size() == 1 && llvm::all_of(load->getUsers(), [&](Operation* user) {
           return writer_.names_on_line(user->getLoc()) != names;
         });
  if (ends) name = names[0];
  name = writer_.unique(name);
  writer_.line(name + " = " + code.text, load.getLoc());
  codes_[load.getResult()] = {name, Binding::Atom, code.type, code.shape};
}

void KernelEmitter::emit_store(StoreOp store) {
  AccessOp access(store);
  Value value = store.getValue();
  const Access kind = access_kind(access);
  // A store by pointers converts.
  if (auto truncation = value.getDefiningOp<arith::TruncFOp>();
      truncation && placement_.is_inlined(truncation) && kind == Access::Pointer)
    value = truncation.getIn();
  std::string type = memory_type(access);
  SmallVector<int64_t> shape = squeezed_shape(store.getValue().getType());
  if (kind == Access::TensorDescriptor) {
    std::string offsets, name = descriptor(access, offsets);
    std::string text = in_full(value).text;
    if (descriptors_[name].block != shape)
      text = fmt::format("tl.reshape({}, {})", text, tuple(descriptors_[name].block));
    return writer_.line(fmt::format("{}.store({}, {})", name, offsets, text), store.getLoc());
  }
  if (kind == Access::BlockPtr) {
    std::vector<int64_t> checked;
    std::string pointer = block_pointer(access, checked);
    std::string bounds = checked.empty() ? "" : fmt::format(", boundary_check={}", tuple(checked));
    Code full = reinterpreted(in_full(value), type); // a block pointer takes no other
    return writer_.line(
        fmt::format("tl.store({}, {}{}{})", pointer, full.text, bounds, eviction_text(store.getEviction())),
        store.getLoc());
  }
  Code code = code_of(value), pointer = address(access);
  std::optional<Code> mask = mask_of(access);
  SmallVector<int64_t> lanes = mask ? common_shape({pointer, *mask, code}) : common_shape({pointer, code});
  std::string where = pointer.text;
  if (lanes != pointer.shape) where = fmt::format("tl.broadcast_to({}, {})", pointer.text, tuple(lanes));
  writer_.line(fmt::format("tl.store({}, {}{}{})", where, code.text, mask ? ", mask=" + mask->text : "",
                           eviction_text(store.getEviction())),
               store.getLoc());
}

//===----------------------------------------------------------------------===//
// Atomic accesses
//===----------------------------------------------------------------------===//

static const char* order_text(MemoryOrder order) {
  switch (order) {
  case MemoryOrder::Relaxed: return "relaxed";
  case MemoryOrder::Acquire: return "acquire";
  case MemoryOrder::Release: return "release";
  case MemoryOrder::AcquireRelease: return "acq_rel";
  }
  llvm_unreachable("no such order");
}

void KernelEmitter::emit_atomic(Operation* op) {
  AccessOp access(op);
  std::optional<Code> mask = mask_of(access);
  Code pointer = address(access);
  std::string arguments;
  std::string function;
  MemoryOrder order = MemoryOrder::AcquireRelease;
  SmallVector<int64_t> shape = squeezed_shape(access.block());
  if (ArrayRef<int64_t>(pointer.shape) != ArrayRef<int64_t>(shape))
    pointer.text = fmt::format("tl.broadcast_to({}, {})", pointer.text, tuple(shape));
  Type element = element_type(access.block());
  const unsigned bits = element.getIntOrFloatBitWidth();
  // As Triton 3.6 has it.
  if (auto atomic = dyn_cast<AtomicOp>(op)) {
    const bool adds_halves = isa<FloatType>(element) && bits == 16 && atomic.getKind() == AtomicKind::Add;
    if (bits < 32 && !adds_halves)
      refuse(op, fmt::format("atomic_{} of {}", stringifyAtomicKind(atomic.getKind()).str(), memory_type(access)));
    function = "tl.atomic_" + stringifyAtomicKind(atomic.getKind()).str();
    arguments = in_full(atomic.getValue()).text;
    order = atomic.getOrder();
  } else {
    auto exchange = cast<AtomicCasOp>(op);
    if (bits < 16) refuse(op, fmt::format("atomic_cas of {}", memory_type(access)));
    if (mask) refuse(op, "atomic_cas on a tile whose end is not its block's: Triton's takes no mask");
    function = "tl.atomic_cas";
    arguments = in_full(exchange.getExpected()).text + ", " + in_full(exchange.getValue()).text;
    order = exchange.getOrder();
  }
  if (mask) arguments += ", mask=" + mask->text;
  std::string type = type_name(access.block(), op->getLoc());
  Code code{fmt::format("{}({}, {}, sem=\"{}\")", function, pointer.text, arguments, order_text(order)), Binding::Atom,
            type, shape};
  if (op->use_empty()) return writer_.line(code.text, op->getLoc());
  assign(op, code);
}

} // namespace tilewright::triton
