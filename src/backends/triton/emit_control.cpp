// Loops, branches and printing.
#include "backends/triton/kernel_emitter.h"

#include "backends/triton/loop_options.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;

namespace tilewright::triton {

//===----------------------------------------------------------------------===//
// A loop's head
//===----------------------------------------------------------------------===//

std::string KernelEmitter::variable_name(scf::ForOp loop) {
  if (loop->getParentOp() == program_ && !program_.getPrograms()) return "tile_id"; // of a persistent program
  std::vector<std::string> tiles = writer_.loop_names(loop.getLoc());
  const bool sums = loop.getBody()->walk([](DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
  StringRef name = !tiles.empty() ? StringRef(tiles.back()) : sums ? "k" : "i";
  name.consume_front("tile_");
  if (name == "tile") return "i";
  // What is loaded from an argument of that name is called so.
  return llvm::is_contained(arguments_, name) ? "start_" + name.str() : name.str();
}

std::string KernelEmitter::loop_range(scf::ForOp loop) {
  std::string bounds = code_of(loop.getUpperBound()).text;
  Code step = code_of(loop.getStep()), lower = code_of(loop.getLowerBound());
  if (step.text != "1")
    bounds = fmt::format("{}, {}, {}", lower.text, bounds, step.text);
  else if (lower.text != "0")
    bounds = fmt::format("{}, {}", lower.text, bounds);
  LoopOptions options = loop_options(loop);
  if (options.is_static) return fmt::format("tl.static_range({})", bounds);
  std::string more;
  if (options.num_stages) more += fmt::format(", num_stages={}", *options.num_stages);
  if (options.unroll_factor) more += fmt::format(", loop_unroll_factor={}", *options.unroll_factor);
  if (options.flatten) more += ", flatten=True";
  if (options.disallow_acc_multi_buffer) more += ", disallow_acc_multi_buffer=True";
  if (options.warp_specialize) more += ", warp_specialize=True";
  return more.empty() ? fmt::format("range({})", bounds) : fmt::format("tl.range({}{})", bounds, more);
}

//===----------------------------------------------------------------------===//
// What is carried
//===----------------------------------------------------------------------===//

std::string KernelEmitter::carried_name(Value first, Value next) {
  for (Value value : {first, next}) {
    if (!value || !value.getDefiningOp()) continue;
    std::vector<std::string> names = writer_.names_on_line(value.getLoc());
    if (names.size() == 1) return writer_.unique(names[0]);
  }
  return writer_.unique(next && next.getDefiningOp<DotOp>() ? "acc" : "carried");
}

Code KernelEmitter::carried_code(Value value, Type type) {
  Code code = in_full(code_of(value), type);
  return type.isIndex() ? converted(code, "int64") : code;
}

Code KernelEmitter::carried_variable(const std::string& name, Type type) {
  return {name, Binding::Atom, type.isIndex() ? "int64" : type_name(type, program_.getLoc()), squeezed_shape(type)};
}

// Whether a name stands in an expression.
static bool reads(StringRef expression, StringRef name) {
  auto is_word = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  for (size_t at = expression.find(name); at != StringRef::npos; at = expression.find(name, at + 1)) {
    size_t end = at + name.size();
    if ((at == 0 || !is_word(expression[at - 1])) && (end == expression.size() || !is_word(expression[end])))
      return true;
  }
  return false;
}

// Assigns all at once where one of them reads what another one writes.
void KernelEmitter::assign_results(ArrayRef<std::string> names, ValueRange values, TypeRange types) {
  std::vector<std::string> targets, sources;
  for (auto [name, value, type] : llvm::zip(names, values, types)) {
    Code code = carried_code(value, type);
    if (code.text == name) continue;
    targets.push_back(name);
    sources.push_back(code.text);
  }
  bool crosses = false;
  for (size_t i = 0; i < targets.size(); ++i)
    for (size_t j = i + 1; j < sources.size(); ++j) crosses |= reads(sources[j], targets[i]);
  if (crosses) return writer_.line(fmt::format("{} = {}", fmt::join(targets, ", "), fmt::join(sources, ", ")));
  for (size_t i = 0; i < targets.size(); ++i) writer_.line(fmt::format("{} = {}", targets[i], sources[i]));
}

//===----------------------------------------------------------------------===//
// for
//===----------------------------------------------------------------------===//

// Bounds that come from data are of 64 bits, and so is the variable then.
static std::string variable_type(const Code& lower, const Code& upper) {
  for (const Code& bound : {lower, upper}) {
    if (bound.type == "int64") return "int64";
    if (bound.is_literal() && std::stoll(bound.text) > INT32_MAX) return "int64";
  }
  return "int32";
}

// What a loop carries has the same name before, in and after it.
void KernelEmitter::emit_for(scf::ForOp loop) {
  Block* body = loop.getBody();
  std::vector<std::string> names;
  for (auto [init, argument, yielded] :
       llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getYieldedValues())) {
    // A variable that nothing else reads is carried on.
    const bool takes_over =
        codes_.contains(init) && !isa<BlockArgument>(init) && init.hasOneUse() && !init.getType().isIndex();
    Code before = carried_code(init, init.getType());
    std::string name = takes_over ? codes_[init].text : carried_name(init, yielded);
    if (before.text != name) writer_.line(fmt::format("{} = {}", name, before.text), init.getLoc());
    codes_[argument] = carried_variable(name, init.getType());
    names.push_back(name);
  }
  // A new value takes the carried name at once where nothing reads the old one any more.
  for (auto [name, argument, yielded] : llvm::zip(names, loop.getRegionIterArgs(), loop.getYieldedValues())) {
    Operation* op = yielded.getDefiningOp();
    if (!op || op->getBlock() != body || placement_.is_inlined(op) || yielded.getType().isIndex()) continue;
    if (wanted_names_.contains(yielded)) continue;
    Operation* last = placement_.last_reader(argument, body);
    if (!last || !op->isBeforeInBlock(last)) wanted_names_[yielded] = name;
  }
  std::string range = loop_range(loop), variable = writer_.unique(variable_name(loop));
  codes_[loop.getInductionVar()] = {variable, Binding::Atom,
                                    variable_type(code_of(loop.getLowerBound()), code_of(loop.getUpperBound()))};
  writer_.enter(body);
  emit_block(*body);
  assign_results(names, loop.getYieldedValues(), TypeRange(ValueRange(loop.getRegionIterArgs())));
  if (writer_.is_empty()) writer_.line("pass");
  writer_.leave(fmt::format("for {} in {}:", variable, range));
  for (auto [result, argument] : llvm::zip(loop.getResults(), loop.getRegionIterArgs()))
    define(result, code_of(argument));
}

//===----------------------------------------------------------------------===//
// if, while
//===----------------------------------------------------------------------===//

void KernelEmitter::emit_if(scf::IfOp branch) {
  Code condition = code_of(branch.getCondition());
  std::vector<std::string> names;
  for (Value result : branch.getResults()) names.push_back(name_of(result));
  auto lines_of = [&](Block* block) {
    writer_.enter(block);
    emit_block(*block);
    assign_results(names, block->getTerminator()->getOperands(), branch.getResultTypes());
    if (writer_.is_empty()) writer_.line("pass");
    return writer_.take_block();
  };
  const bool has_else = branch.elseBlock() && (!branch.elseBlock()->without_terminator().empty() || !names.empty());
  std::vector<std::string> then_lines = lines_of(branch.thenBlock()), else_lines;
  if (has_else) else_lines = lines_of(branch.elseBlock());
  writer_.write_block(fmt::format("if {}:", condition.text), then_lines);
  if (has_else) writer_.write_block("else:", else_lines);
  for (auto [result, name] : llvm::zip(branch.getResults(), names))
    codes_[result] = carried_variable(name, result.getType());
}

// The condition is computed before the loop, and again at the end of its body.
void KernelEmitter::emit_while(scf::WhileOp loop) {
  Block *before = loop.getBeforeBody(), *after = loop.getAfterBody();
  std::vector<std::string> names, passed;
  for (auto [init, argument] : llvm::zip(loop.getInits(), before->getArguments())) {
    names.push_back(carried_name(init, Value()));
    codes_[argument] = carried_variable(names.back(), argument.getType());
  }
  assign_results(names, loop.getInits(), TypeRange(ValueRange(before->getArguments())));
  for (Value argument : after->getArguments()) {
    passed.push_back(writer_.unique("value"));
    codes_[argument] = carried_variable(passed.back(), argument.getType());
  }
  std::string condition = writer_.unique("goes_on");
  auto emit_condition = [&] {
    for (Operation& op : *before) // its values are computed anew
      for (Value result : op.getResults()) codes_.erase(result);
    emit_block(*before);
    auto end = cast<scf::ConditionOp>(before->getTerminator());
    assign_results(passed, end.getArgs(), TypeRange(ValueRange(after->getArguments())));
    writer_.line(fmt::format("{} = {}", condition, code_of(end.getCondition()).text), end.getLoc());
  };
  emit_condition();
  writer_.enter(after);
  emit_block(*after);
  assign_results(names, after->getTerminator()->getOperands(), TypeRange(ValueRange(before->getArguments())));
  emit_condition();
  writer_.leave(fmt::format("while {}:", condition));
  for (auto [result, argument] : llvm::zip(loop.getResults(), after->getArguments())) define(result, code_of(argument));
}

//===----------------------------------------------------------------------===//
// print
//===----------------------------------------------------------------------===//

void KernelEmitter::emit_print(PrintOp op) {
  std::string text;
  for (char c : op.getText()) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  if (!op.getValue()) return writer_.line(fmt::format("tl.device_print(\"{}\")", text), op.getLoc());
  // Every lane is printed; those that do not exist as 0.
  Code value = in_full(op.getValue());
  for (auto [valid, dim] : llvm::zip(op.getValid(), op.getValidDims()))
    value = masked(value, op.getValue().getType(), dim, valid,
                   Code{StringRef(value.type).contains("float") ? "0.0" : "0", Binding::Atom, ""});
  writer_.line(fmt::format("tl.device_print(\"{}\", {})", text, value.text), op.getLoc());
}

} // namespace tilewright::triton
