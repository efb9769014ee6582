#include "backends/triton/kernel_emitter.h"

#include "ir/context.h"
#include "support/error.h"

#include "llvm/ADT/TypeSwitch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;

namespace tilewright::triton {

// Longer expressions that would stand inside others get a line of their own.
constexpr size_t kLongestOperand = 60, kLongestIndex = 48;

KernelEmitter::KernelEmitter(ProgramOp program, std::string name, ArrayRef<std::string> arguments,
                             llvm::function_ref<StringRef(StringRef, unsigned)> source_line)
    : program_(program), arguments_(arguments.begin(), arguments.end()), writer_(source_line), missing_(program),
      placement_(program) {
  function_.name = std::move(name);
  writer_.reserve(function_.name);
}

void KernelEmitter::refuse(Operation* op, const std::string& what) {
  fail(source_location(op->getLoc()), "the triton backend does not support {}", what);
}

EmittedFunction KernelEmitter::run() {
  Block& block = program_.block();
  std::vector<std::string> names;
  for (auto [argument, name] : llvm::zip(block.getArguments(), arguments_)) {
    const bool is_array = isa<ArrayType>(argument.getType());
    names.push_back(writer_.unique(is_array ? name + "_ptr" : name));
    codes_[argument] = {names.back(), Binding::Atom,
                        is_array ? "pointer" : type_name(argument.getType(), program_.getLoc())};
  }
  writer_.enter(&block);
  emit_block(block);
  function_.body = writer_.take_lines();
  // What the body does not name is not passed.
  for (auto [i, argument] : llvm::enumerate(block.getArguments())) {
    for (const auto& [name, descriptor] : descriptors_)
      if (descriptor.argument == i) {
        function_.parameters.push_back(name);
        function_.passed.push_back({std::nullopt, descriptor});
      }
    const bool is_array = isa<ArrayType>(argument.getType());
    if (is_array ? !used_as_pointer_.contains(i) : argument.use_empty()) continue;
    function_.parameters.push_back(is_array ? names[i] : fmt::format("{}: tl.{}", names[i], codes_[argument].type));
    function_.passed.push_back({static_cast<unsigned>(i), std::nullopt});
  }
  return std::move(function_);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void KernelEmitter::emit_block(Block& block) {
  for (Operation& op : block.without_terminator()) emit(&op);
}

void KernelEmitter::emit(Operation* op) {
  if (placement_.is_inlined(op)) return;
  llvm::TypeSwitch<Operation*>(op)
      .Case([&](LoadOp load) { emit_load(load); })
      .Case([&](StoreOp store) { emit_store(store); })
      .Case<AtomicOp, AtomicCasOp>([&](auto atomic) { emit_atomic(atomic); })
      .Case([&](CombineOp combine) { emit_combine(combine); })
      .Case([&](ScanOp scan) { emit_scan(scan); })
      .Case([&](PrintOp print) { emit_print(print); })
      .Case([&](scf::ForOp loop) { emit_for(loop); })
      .Case([&](scf::IfOp branch) { emit_if(branch); })
      .Case([&](scf::WhileOp loop) { emit_while(loop); })
      .Case([&](ProgramIdOp id) { emit_program_id(id); })
      .Case([&](MapProgramOp map) { emit_map_program(map); })
      .Default([&](Operation* op) {
        if (op->getNumResults() != 1) refuse(op, op->getName().getStringRef().str());
        if (!op->use_empty()) assign(op, compute(op));
      });
}

void KernelEmitter::assign(Operation* op, const Code& code) {
  std::string name = name_of(op->getResult(0));
  writer_.line(name + " = " + code.text, op->getLoc());
  codes_[op->getResult(0)] = {name, Binding::Atom, code.type, code.shape};
}

// The name that says what an op computes, for values that the user's source does not name.
static std::string usual_name(Operation* op) {
  return llvm::TypeSwitch<Operation*, std::string>(op)
      .Case([](ReduceOp reduce) { return stringifyReduction(reduce.getKind()).str(); })
      .Case([](DotOp) { return "product"; })
      .Case<arith::CmpIOp, arith::CmpFOp>([](auto) { return "mask"; })
      .Case<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::ExtSIOp>([](Operation* cast) -> std::string {
        auto load = cast->getOperand(0).getDefiningOp<LoadOp>();
        if (!load) return "value";
        auto array = dyn_cast<BlockArgument>(load.getArray());
        auto program = cast->getParentOfType<ProgramOp>();
        StringRef name = array ? program.argument_name(array.getArgNumber()) : "";
        return name.empty() ? "value" : name.str();
      })
      .Case<math::ExpOp, math::Exp2Op>([](auto) { return "exps"; })
      .Case([](TransposeOp) { return "transposed"; })
      .Default([](Operation*) { return "value"; });
}

// Whether the op gives the line's result: no other op of the line reads it.
static bool ends_its_line(Operation* op) {
  SourceLocation own = source_location(op->getLoc());
  if (!own.known()) return false;
  for (Operation* user : op->getUsers()) {
    SourceLocation other = source_location(user->getLoc());
    if (isa<scf::YieldOp>(user)) continue;
    if (other.known() && other.line == own.line && StringRef(other.file) == own.file) return false;
  }
  return true;
}

std::string KernelEmitter::name_of(Value value) {
  if (auto wanted = wanted_names_.find(value); wanted != wanted_names_.end()) return wanted->second;
  Operation* op = value.getDefiningOp();
  if (!op) return writer_.unique("value");
  if (ends_its_line(op)) {
    std::vector<std::string> names = writer_.names_on_line(op->getLoc());
    if (names.size() == op->getNumResults()) return writer_.unique(names[cast<OpResult>(value).getResultNumber()]);
  }
  return writer_.unique(usual_name(op));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Code KernelEmitter::code_of(Value value) {
  if (auto known = codes_.find(value); known != codes_.end()) return known->second;
  Operation* op = value.getDefiningOp();
  Code code = compute(op);
  const bool is_index = value.getType().isIndex();
  if (code.text.size() <= (is_index ? kLongestIndex : kLongestOperand)) return code;
  // Indices may be read in inner blocks, and so get their name where they are computed.
  std::string name = is_index ? writer_.unique("bound") : name_of(value);
  if (is_index)
    writer_.line_in(op->getBlock(), name + " = " + code.text);
  else
    writer_.line(name + " = " + code.text, op->getLoc());
  Code named{name, Binding::Atom, code.type, code.shape};
  codes_[value] = named;
  return named;
}

Code KernelEmitter::compute(Operation* op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue())) {
      if (!dense.isSplat()) refuse(op, "constant tensors of different elements");
      return literal(cast<TypedAttr>(dense.getSplatValue<Attribute>()));
    }
    return literal(cast<TypedAttr>(constant.getValue()));
  }
  if (auto load = dyn_cast<LoadOp>(op)) return load_code(load);
  if (auto iota = dyn_cast<IotaOp>(op)) {
    auto type = cast<RankedTensorType>(iota.getType());
    return converted(line(iota.getBegin(), type.getDimSize(0)), type_name(type, op->getLoc()));
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) return compute_reduce(reduce);
  if (auto dot = dyn_cast<DotOp>(op)) return compute_dot(dot);
  if (auto composite = dyn_cast<CompositeOp>(op)) return compute_composite(composite);
  if (isa<SortOp>(op)) refuse(op, "sorting: sort, argsort and topk");
  if (isa<WorkerCountOp>(op)) return {"tl.num_programs(0)", Binding::Atom, "int32"};
  if (std::optional<Code> code = compute_shape(op)) return *code;
  if (std::optional<Code> code = compute_index(op)) return *code;
  if (std::optional<Code> code = compute_cast(op)) return *code;
  if (std::optional<Code> code = compute_arith(op)) return *code;
  if (std::optional<Code> code = compute_math(op)) return *code;
  refuse(op, op->getName().getStringRef().str());
}

Code KernelEmitter::in_full(Value value) { return in_full(code_of(value), value.getType()); }

Code KernelEmitter::in_full(const Code& code, Type type) {
  SmallVector<int64_t> shape = squeezed_shape(type);
  std::string element = type_name(type, program_.getLoc());
  if (code.is_literal()) {
    // An index of 32 bits is what Python's numbers are.
    if (shape.empty() && (element == "float32" || element == "int32")) return {code.text, code.binding, "", {}};
    if (code.text == "0.0" || code.text == "0")
      return {fmt::format("tl.zeros({}, tl.{})", tuple(shape), element), Binding::Atom, element, shape};
    return {fmt::format("tl.full({}, {}, tl.{})", tuple(shape), code.text, element), Binding::Atom, element, shape};
  }
  if (is_unsigned(code)) return in_full(reinterpreted(code, element), type);
  if (ArrayRef<int64_t>(code.shape) == ArrayRef<int64_t>(shape)) return code;
  return {fmt::format("tl.broadcast_to({}, {})", code.text, tuple(shape)), Binding::Atom, code.type, shape};
}

} // namespace tilewright::triton
