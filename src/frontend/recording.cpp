#include "frontend/recording.h"

#include "frontend/tidy.h"
#include "ir/context.h"
#include "ir/validity.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/STLExtras.h"

#include <atomic>

namespace tilewright::detail {

static thread_local Recording* current_recording = nullptr;

static std::atomic<uint32_t> recordings_begun = 0;

//===----------------------------------------------------------------------===//
// Beginning: the kernel's arguments
//===----------------------------------------------------------------------===//

Recording::Recording(const KernelDefinition& definition, std::span<const Argument> arguments,
                     mlir::MLIRContext* context)
    : definition_(definition), id_(++recordings_begun), builder_(context) {
  builder_.at(definition.location);
  mlir::OpBuilder& ir = builder_.ir;
  // Index 0 of each table is none.
  variables_.emplace_back();
  tensors_.emplace_back();
  tiles_.emplace_back();
  sizes_.emplace_back();
  places_.emplace_back();

  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::Attribute> attributes;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    if (argument.kind == Argument::Kind::constant) continue;
    if (argument.kind == Argument::Kind::number) {
      types.push_back(element_type_of(argument.dtype, context));
    } else {
      const Array& array = argument.array();
      if (!array.defined()) builder_.fail("{} is an array without data", definition.argument_name(i));
      if (!is_supported(array.dtype()))
        builder_.fail("{} is {}, which kernels do not support yet; there are {}", definition.argument_name(i),
                      name(array.dtype()), kSupportedDTypes);
      llvm::SmallVector<DimAttr> dims;
      for (int64_t size : array.sizes()) dims.push_back(DimAttr::get(context, builder_.dimensions.add_size(size)));
      types.push_back(ArrayType::get(element_type_of(array.dtype(), context), dims));
    }
    numbers_.push_back(i);
    std::string name = i < definition.argument_names.size() ? definition.argument_names[i] : fmt::format("arg{}", i);
    attributes.push_back(ir.getDictionaryAttr(ir.getNamedAttr("tile.name", ir.getStringAttr(name))));
  }

  mlir::Location location = builder_.location();
  module_ = mlir::ModuleOp::create(location);
  ir.setInsertionPointToEnd(module_->getBody());
  kernel_ = ir.create<KernelOp>(location, definition.name, ir.getFunctionType(types, {}), ir.getArrayAttr(attributes),
                                mlir::ArrayAttr());
  mlir::Block& block = kernel_.getBody().emplaceBlock();
  builder_.open_scope(&block);
  parameters_.resize(arguments.size());
  for (auto [type, number] : llvm::zip(types, numbers_)) {
    mlir::Value value = block.addArgument(type, location);
    const Argument& argument = arguments[number];
    if (argument.kind == Argument::Kind::array) {
      parameters_[number] = new_tensor(value, argument.array().dtype());
    } else {
      parameters_[number] = new_variable(value);
      builder_.mark_number(value);
    }
  }
  current_recording = this;
}

Recording::~Recording() {
  current_recording = nullptr;
  while (!loops_.empty()) loops_.pop_back(); // inner blocks use what outer ones define
}

//===----------------------------------------------------------------------===//
// Where we are
//===----------------------------------------------------------------------===//

Recording* Recording::current() { return current_recording; }

Recording& Recording::require(const SourceLocation& where, const char* what) {
  if (current_recording) return *current_recording;
  fail(where, "{} works on what a kernel is made of: it belongs into the lambda of tw::kernel", what);
}

Builder& Recording::at(const SourceLocation& where) {
  if (where.known()) builder_.at(where); // an operator may know no line: then the last one that was heard of
  if (left_early_)
    builder_.fail("the tile loop of line {} was left by break, return or an exception; its body is recorded once, for "
                  "every tile, so it must run to its end (tw::where chooses by element)",
                  left_early_->line);
  return builder_;
}

Builder& Recording::device(const SourceLocation& where, const char* what) {
  at(where);
  if (loops_.empty())
    builder_.fail("{} is work on the device: it belongs into a tile loop, as in for (auto tile : tw::tile(n))", what);
  return builder_;
}

Builder& Recording::host(const SourceLocation& where, const char* what) {
  at(where);
  if (!loops_.empty()) builder_.fail("{} is host work: it belongs before the outermost tile loop", what);
  if (had_outermost_) builder_.fail("{} stands after the tile loop: it belongs before it", what);
  return builder_;
}

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

void Recording::check_mine(const Handle& handle, const char* what) const {
  if (handle.index == 0) builder_.fail("{} is used before it is given a value", what);
  if (handle.recording != id_) builder_.fail("{} is from another recording of a kernel; it cannot be kept", what);
}

Handle Recording::new_variable(mlir::Value value) {
  variables_.push_back({value, depth(), innermost()});
  return {id_, static_cast<uint32_t>(variables_.size() - 1)};
}

mlir::Value Recording::read(const Handle& handle) {
  check_mine(handle, "a tw::Value");
  const Variable& variable = variables_[handle.index];
  if (!is_open(variable.depth, variable.loop))
    builder_.fail("a tw::Value is used after the tile loop in which it got its value; give it a value before that loop "
                  "and assign to it inside");
  return value_in(handle.index, depth());
}

void Recording::assign(Handle& handle, mlir::Value value) {
  if (handle.index != 0) check_mine(handle, "a tw::Value");
  const Variable& variable = variables_[handle.index];
  if (handle.index == 0 || !is_open(variable.depth, variable.loop))
    handle = new_variable(value);
  else
    assign_in(handle.index, depth(), value);
}

Term Recording::term(const Operand& operand) {
  switch (operand.kind()) {
  case Operand::Kind::value: return read(operand.handle());
  case Operand::Kind::integer: return Term::integer_literal(operand.integer());
  case Operand::Kind::real: return Term::real_literal(operand.real());
  case Operand::Kind::boolean: return Term::boolean_literal(operand.integer() != 0);
  case Operand::Kind::size: {
    Dim known = dim(Size(operand.integer(), operand.handle()));
    if (std::optional<int64_t> number = known.constant()) return Term::integer_literal(*number);
    return builder_.extent(known);
  }
  }
  llvm_unreachable("unknown operand");
}

Size Recording::size(const Dim& dim) {
  int64_t value = *builder_.dimensions.value(dim);
  if (dim.constant()) return Size(value);
  sizes_.push_back(dim);
  return Size(value, Handle{id_, static_cast<uint32_t>(sizes_.size() - 1)});
}

Dim Recording::dim(const Size& size) {
  if (size.symbol().index == 0) return Dim(size.value());
  check_mine(size.symbol(), "a tw::Size");
  return sizes_[size.symbol().index];
}

const Recording::TensorEntry& Recording::tensor(const Handle& handle) {
  check_mine(handle, "a tw::Tensor");
  return tensors_[handle.index];
}

Handle Recording::new_tensor(mlir::Value array, DType dtype) {
  auto dims =
      llvm::map_to_vector<4>(mlir::cast<ArrayType>(array.getType()).getDims(), [](DimAttr dim) { return dim.dim(); });
  tensors_.push_back({array, dtype, std::move(dims)});
  return {id_, static_cast<uint32_t>(tensors_.size() - 1)};
}

mlir::Value Recording::tile(const Handle& handle) {
  check_mine(handle, "a tw::Tile");
  const TileEntry& entry = tiles_[handle.index];
  if (!is_open(entry.depth, entry.loop)) builder_.fail("a tw::Tile is used after its loop");
  return entry.tile;
}

//===----------------------------------------------------------------------===//
// Subscripts and shapes
//===----------------------------------------------------------------------===//

llvm::SmallVector<SubscriptTerm> Recording::subscripts(std::span<const TensorIndex> list) {
  using Kind = SubscriptTerm::Kind;
  llvm::SmallVector<SubscriptTerm> terms;
  for (const TensorIndex& index : list) {
    switch (index.kind()) {
    case TensorIndex::Kind::whole: terms.push_back({Kind::whole}); break;
    case TensorIndex::Kind::none: terms.push_back({Kind::new_axis}); break;
    case TensorIndex::Kind::tiles:
      for (int i = 0; i < index.tile_count(); ++i) terms.push_back({Kind::tile, tile(index.tiles()[i].handle())});
      break;
    case TensorIndex::Kind::scalar: terms.push_back({Kind::scalar, term(index.scalar())}); break;
    }
  }
  return terms;
}

uint32_t Recording::new_place(Place place) {
  places_.push_back({std::move(place), depth(), innermost(), builder_.where()});
  return places_.size() - 1;
}

void Recording::check_place(uint32_t number) {
  if (!is_open(places_[number].depth, places_[number].loop))
    builder_.fail("the subscripts of a store belong to a tile loop that has ended");
}

Recording::ShapeParts Recording::shape(const Shape& shape) {
  ShapeParts parts;
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i].is_tile()) {
      parts.tiles.push_back(tile(shape[i].tile().handle()));
      parts.dims.push_back(mlir::cast<TileType>(parts.tiles.back().getType()).getExtent().dim());
      continue;
    }
    Dim length = dim(shape[i].size());
    if (shape[i].size().value() < 0) builder_.fail("a value cannot have {} elements", shape[i].size().value());
    parts.tiles.emplace_back();
    parts.dims.push_back(builder_.dimensions.whole(length));
  }
  return parts;
}

// A dimension of a value that is no whole one is a tile's, of a loop that is open.
Recording::ShapeParts Recording::shape_like(mlir::Value value) {
  ShapeParts parts;
  parts.dims = dims_of(value);
  for (const Dim& dim : parts.dims) {
    mlir::Value limit;
    bool whole = dim.is_one() || (dim.symbol() && dim.symbol()->kind == Symbol::Kind::Whole);
    if (!whole)
      for (const TileEntry& entry : llvm::reverse(tiles_))
        if (!limit && entry.tile && is_open(entry.depth, entry.loop) &&
            mlir::cast<TileType>(entry.tile.getType()).getExtent().dim() == dim)
          limit = entry.tile;
    parts.tiles.push_back(limit);
  }
  return parts;
}

//===----------------------------------------------------------------------===//
// Ending
//===----------------------------------------------------------------------===//

void Recording::set_results(std::span<const Tensor> results) {
  at(definition_.location);
  results_.emplace();
  for (const Tensor& result : results) results_->push_back(tensor(result.handle()).array);
}

TracedKernel Recording::finish() {
  at(definition_.location);
  if (!had_outermost_)
    builder_.fail("kernel {} has no tile loop; a kernel has one outermost loop, as in for (auto tile : tw::tile(n))",
                  definition_.name);
  mlir::ValueRange results = results_ ? mlir::ValueRange(*results_) : mlir::ValueRange();
  builder_.ir.create<ReturnOp>(builder_.location(), results);
  builder_.close_scope();
  kernel_.setFunctionType(builder_.ir.getFunctionType(kernel_.getArgumentTypes(), mlir::TypeRange(results)));

  erase_unused(kernel_);
  order_by_operands(kernel_);
  number_whole_dims(kernel_, builder_.dimensions.whole_definitions());

  check_diagnostics(builder_.context(), [&] { return mlir::verify(*module_); });
  check_diagnostics(builder_.context(), [&] { return mlir::failure(mlir::failed(Validity::of(kernel_))); });
  return {std::move(module_), kernel_, std::move(numbers_)};
}

} // namespace tilewright::detail
