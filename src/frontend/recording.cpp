#include "frontend/recording.h"

#include "frontend/tidy.h"
#include "ir/context.h"
#include "ir/validity.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <atomic>

namespace tilewright::detail {

static thread_local Recording* current_recording = nullptr;

static std::atomic<uint32_t> recordings_begun = 0;

//===----------------------------------------------------------------------===//
// Beginning: the kernel's arguments
//===----------------------------------------------------------------------===//

mlir::Type Recording::array_type(const Array& array, const std::string& name) {
  if (!array.defined()) builder_.fail("{} is an array without data; make one as with tw::Array::empty", name);
  mlir::MLIRContext* context = builder_.context();
  llvm::SmallVector<DimAttr> dims;
  for (int64_t size : array.sizes()) dims.push_back(DimAttr::get(context, builder_.dimensions.add_size(size)));
  return ArrayType::get(array_element_of(array.dtype(), context), dims);
}

static mlir::Attribute named_argument(mlir::OpBuilder& ir, const std::string& name) {
  return ir.getDictionaryAttr(ir.getNamedAttr("tile.name", ir.getStringAttr(name)));
}

Recording::Recording(const KernelDefinition& definition, std::span<const Argument> arguments,
                     mlir::MLIRContext* context, const Config* config)
    : definition_(definition), config_(config), id_(++recordings_begun), builder_(context) {
  builder_.at(definition.location);
  mlir::OpBuilder& ir = builder_.ir;
  // Index 0 of each table is none.
  variables_.emplace_back();
  tensors_.emplace_back();
  tiles_.emplace_back();
  sizes_.emplace_back();
  places_.emplace_back();
  scope_kinds_.push_back(ScopeKind::host);

  llvm::SmallVector<mlir::Type> types;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    if (argument.kind == Argument::Kind::constant) continue;
    if (argument.kind == Argument::Kind::number) {
      types.push_back(element_type_of(argument.dtype, context));
    } else {
      types.push_back(array_type(argument.array(), definition.argument_name(i)));
    }
    numbers_.push_back(i);
    std::string name = i < definition.argument_names.size() ? definition.argument_names[i] : fmt::format("arg{}", i);
    argument_attributes_.push_back(named_argument(ir, name));
  }

  mlir::Location location = builder_.location();
  module_ = mlir::ModuleOp::create(location);
  ir.setInsertionPointToEnd(module_->getBody());
  kernel_ = ir.create<KernelOp>(location, definition.name, ir.getFunctionType(types, {}),
                                ir.getArrayAttr(argument_attributes_), mlir::ArrayAttr());
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
  while (!scopes_.empty()) scopes_.pop_back(); // inner blocks use what outer ones define
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
    builder_.fail("the {} of line {} was left by break, return or an exception; its body is recorded once, for every "
                  "time that it runs, so it must run to its end (tw::where chooses by element, tw::if_ by a scalar)",
                  name_of(left_early_->first), left_early_->second.line);
  return builder_;
}

Builder& Recording::device(const SourceLocation& where, const char* what) {
  at(where);
  if (scopes_.empty())
    builder_.fail("{} is work on the device: it belongs into a tile loop, as in for (auto tile : tw::tile(n))", what);
  return builder_;
}

Builder& Recording::host(const SourceLocation& where, const char* what) {
  at(where);
  if (!scopes_.empty()) builder_.fail("{} is host work: it belongs before the outermost tile loop", what);
  if (had_outermost_) builder_.fail("{} stands after the tile loop: it belongs before it", what);
  return builder_;
}

void Recording::barrier(const SourceLocation& where) {
  at(where);
  if (!scopes_.empty())
    builder_.fail("tw::barrier() stands between two outermost tile loops; inside of one, programs run on their own");
  if (!had_outermost_) builder_.fail("tw::barrier() stands between two outermost tile loops; there is none before it");
  if (last_barrier_)
    builder_.fail("tw::barrier() follows one at line {}, with no tile loop between", last_barrier_->line);
  builder_.ir.create<BarrierOp>(builder_.location());
  last_barrier_ = where;
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

static constexpr const char* kDeviceWork = "reading or writing a tensor";

Handle Recording::new_host_read(mlir::Value element, const SourceLocation& where) {
  Handle handle = new_variable(element);
  host_reads_.emplace(handle.index, where);
  return handle;
}

mlir::Value Recording::read(const Handle& handle) {
  check_mine(handle, "a tw::Value");
  if (auto host_read = host_reads_.find(handle.index); host_read != host_reads_.end() && !scopes_.empty()) {
    at(host_read->second);
    builder_.fail("{} is work on the device: it belongs into a tile loop, as in for (auto tile : tw::tile(n)); before "
                  "the outermost loop an element is read only to be its bound",
                  kDeviceWork);
  }
  const Variable& variable = variables_[handle.index];
  if (!is_open(variable.depth, variable.scope)) {
    if (auto unlike = unlike_.find(handle.index); unlike != unlike_.end()) builder_.fail("{}", unlike->second);
    builder_.fail("a tw::Value is used after the {} in which it got its value; give it a value before and assign to it "
                  "inside",
                  name_of(scope_kinds_[variable.scope]));
  }
  return value_in(handle.index, depth());
}

void Recording::assign(Handle& handle, mlir::Value value) {
  if (handle.index != 0) check_mine(handle, "a tw::Value");
  const Variable& variable = variables_[handle.index];
  if (handle.index != 0 && variable.depth == 0 && !scopes_.empty())
    builder_.fail("a registered block size cannot be assigned to; begin a variable with it, as in tw::Value v = block");
  if (handle.index != 0 && is_open(variable.depth, variable.scope)) {
    assign_in(handle.index, depth(), value);
    return;
  }
  handle = new_variable(value);
  if (!scopes_.empty() && scopes_.back().kind == ScopeKind::branch) scopes_.back().fresh[&handle] = handle.index;
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
  if (size.symbol().index == 0) return Dim(size.traced_value());
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

static bool is_same_data(const Array& a, const Array& b) {
  return a.data() == b.data() && a.dtype() == b.dtype() && std::ranges::equal(a.sizes(), b.sizes()) &&
         std::ranges::equal(a.strides(), b.strides());
}

Handle Recording::hidden_argument(const Array& array, const std::string& name) {
  for (auto [known, handle] : llvm::zip(captured_, captured_handles_))
    if (is_same_data(known, array)) return handle;
  std::string called = name.empty() ? fmt::format("captured{}", captured_.size()) : name;
  mlir::Value argument = kernel_.block().addArgument(array_type(array, called), builder_.location());
  argument_attributes_.push_back(named_argument(builder_.ir, called));
  numbers_.push_back(parameters_.size() + captured_.size());
  captured_.push_back(array);
  captured_handles_.push_back(new_tensor(argument, array.dtype()));
  return captured_handles_.back();
}

mlir::Value Recording::tile(const Handle& handle) {
  check_mine(handle, "a tw::Tile");
  const TileEntry& entry = tiles_[handle.index];
  if (!is_open(entry.depth, entry.scope)) builder_.fail("a tw::Tile is used after its loop");
  return entry.tile;
}

Handle Recording::shifted_tile(const Handle& handle, const Operand& by, bool back) {
  mlir::Value from = tile(handle);
  mlir::Value distance = builder_.index(term(by), "what a tile is moved by");
  if (back) distance = builder_.index(builder_.pointwise(Pointwise::sub, {Term::integer_literal(0), distance}), "");
  tiles_.push_back({builder_.ir.create<ShiftOp>(builder_.location(), from, distance), depth(), innermost()});
  tile_ranges_[tiles_.back().tile] = tile_ranges_.lookup(from); // as many elements; what asks knows no more
  return {id_, static_cast<uint32_t>(tiles_.size() - 1)};
}

//===----------------------------------------------------------------------===//
// Subscripts
//===----------------------------------------------------------------------===//

static SubscriptTerm slice_term(Recording& recording, Builder& builder, const Slice& slice) {
  SubscriptTerm term{SubscriptTerm::Kind::slice};
  auto host_number = [&](const Slice::Bound& bound, const char* what) -> std::optional<Dim> {
    if (!bound.given()) return std::nullopt;
    std::optional<Dim> number = recording.length(bound.operand());
    if (!number)
      builder.fail("{} of a slice must be a number or a size; a begin on the device is tw::slice_from(begin, length)",
                   what);
    return number;
  };
  std::optional<Dim> step = host_number(slice.step(), "the step");
  if (!step || !step->constant() || *step->constant() < 1)
    builder.fail("the step of a slice must be a number from 1 on");
  term.step = *step->constant();
  if (slice.begin().given() && slice.end().given() && !slice.has_length() &&
      !recording.length(slice.begin().operand())) {
    term.end = recording.length_between(slice.begin().operand(), slice.end().operand());
    if (!term.end)
      builder.fail("a slice that begins at a value on the device ends at the same value plus a number or a block size, "
                   "as in x[begin : begin + length]");
    if (term.step != 1) builder.fail("a slice that begins at a value on the device takes every element: its step is 1");
    term.kind = SubscriptTerm::Kind::slice_from;
    term.term = recording.term(slice.begin().operand());
    return term;
  }
  term.end = host_number(slice.end(), slice.has_length() ? "the length" : "the end");
  if (!slice.has_length()) {
    term.begin = host_number(slice.begin(), "the begin");
    return term;
  }
  if (!slice.begin().given() || !term.end) builder.fail("tw::slice_from takes a begin and a length");
  term.kind = SubscriptTerm::Kind::slice_from;
  term.term = recording.term(slice.begin().operand());
  return term;
}

llvm::SmallVector<SubscriptTerm> Recording::subscripts(std::span<const TensorIndex> list) {
  using Kind = SubscriptTerm::Kind;
  llvm::SmallVector<SubscriptTerm> terms;
  for (const TensorIndex& index : list) {
    switch (index.kind()) {
    case TensorIndex::Kind::whole: terms.push_back({Kind::whole}); break;
    case TensorIndex::Kind::none: terms.push_back({Kind::new_axis}); break;
    case TensorIndex::Kind::ellipsis: terms.push_back({Kind::ellipsis}); break;
    case TensorIndex::Kind::tiles:
      for (int i = 0; i < index.tile_count(); ++i) terms.push_back({Kind::tile, tile(index.tiles()[i].handle())});
      break;
    case TensorIndex::Kind::value: terms.push_back({Kind::index, term(index.value())}); break;
    case TensorIndex::Kind::slice: terms.push_back(slice_term(*this, builder_, index.slice())); break;
    }
  }
  return terms;
}

Place Recording::place(const Handle& handle, std::span<const TensorIndex> list) {
  return builder_.place(tensor(handle).array, subscripts(list), [&](mlir::Value tile) { return most_indices(tile); });
}

uint32_t Recording::new_place(Place place) {
  places_.push_back({std::move(place), depth(), innermost(), builder_.where()});
  return places_.size() - 1;
}

void Recording::check_place(uint32_t number) {
  if (!is_open(places_[number].depth, places_[number].scope))
    builder_.fail("the subscripts of a store belong to a {} that has ended",
                  name_of(scope_kinds_[places_[number].scope]));
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
  if (last_barrier_) {
    at(*last_barrier_);
    builder_.fail("no tile loop follows tw::barrier(), which stands between two outermost tile loops; leave it out");
  }
  if (!had_outermost_)
    builder_.fail("kernel {} has no tile loop; a kernel has an outermost loop, as in for (auto tile : tw::tile(n))",
                  definition_.name);
  mlir::ValueRange results = results_ ? mlir::ValueRange(*results_) : mlir::ValueRange();
  builder_.ir.create<ReturnOp>(builder_.location(), results);
  builder_.close_scope();
  kernel_.setFunctionType(builder_.ir.getFunctionType(kernel_.block().getArgumentTypes(), mlir::TypeRange(results)));
  kernel_.setArgAttrsAttr(builder_.ir.getArrayAttr(argument_attributes_));
  set_host_choices(kernel_, choices_);

  erase_unused(kernel_);
  if (kernel_.block().getOps<ForOp>().empty())
    builder_.fail(
        "kernel {} stores nothing, so its tile loops do nothing; store what they compute, as in out[tile] = value",
        definition_.name);
  check_together(kernel_);
  order_by_operands(kernel_);
  number_streams(kernel_);
  number_whole_dims(kernel_, builder_.dimensions.whole_definitions());

  check_diagnostics(builder_.context(), [&] { return mlir::verify(*module_); });
  check_diagnostics(builder_.context(), [&] { return mlir::failure(mlir::failed(Validity::of(kernel_))); });
  check_loops_are_independent(kernel_);
  return {std::move(module_),   kernel_, std::move(numbers_),
          std::move(captured_), id_,     builder_.dimensions.guards().vec()};
}

} // namespace tilewright::detail
