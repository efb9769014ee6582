// Reductions, dots, and the user's combiners.
#include "backends/triton/kernel_emitter.h"

#include "backends/triton/nan_reach.h"

#include "ir/context.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

using namespace mlir;

namespace tilewright::triton {

Code KernelEmitter::masked(const Code& code, Type type, int64_t dim, Value valid, const Code& neutral) {
  auto tensor = cast<RankedTensorType>(type);
  std::optional<Code> mask = lanes_mask(valid, tensor.getShape(), dim);
  if (!mask) return code;
  Code other = neutral;
  if (code.is_literal()) other = converted(other, type_name(type, program_.getLoc()));
  return call("tl.where", {*mask, code, other}, type_name(type, program_.getLoc()));
}

//===----------------------------------------------------------------------===//
// Known reductions
//===----------------------------------------------------------------------===//

void KernelEmitter::share_combiners(const std::map<std::string, std::string>& before) {
  functions_ = before;
  for (const auto& [text, name] : before) writer_.reserve(name);
}

// A function of two numbers, for tl.reduce.
std::string KernelEmitter::reduction_function(Reduction kind, Type element, Location location) {
  std::string name, result;
  switch (kind) {
  case Reduction::Add: name = "_add", result = "a + b"; break;
  case Reduction::Mul: name = "_multiply", result = "a * b"; break;
  case Reduction::Max: name = "_maximum", result = "tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)"; break;
  case Reduction::Min: name = "_minimum", result = "tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)"; break;
  case Reduction::And: name = "_and", result = "a & b"; break;
  case Reduction::Or: name = "_or", result = "a | b"; break;
  }
  std::string text = fmt::format("(a, b):\n    return {}", result);
  auto [known, is_new] = functions_.try_emplace(text, name);
  if (is_new) {
    known->second = writer_.unique(name);
    function_.combiners.push_back(fmt::format("@triton.jit\ndef {}{}", known->second, text));
  }
  return known->second;
}

// The functions of triton.language that compute the reduction; others are written out. Its max and min pass over NaN.
static const char* known_function(ReduceOp reduce) {
  const bool sees_nan = isa<FloatType>(element_type(reduce.getSource().getType())) && !may_pass_over_nan(reduce);
  switch (reduce.getKind()) {
  case Reduction::Add: return "tl.sum";
  case Reduction::Max: return sees_nan ? nullptr : "tl.max";
  case Reduction::Min: return sees_nan ? nullptr : "tl.min";
  default: return nullptr;
  }
}

// tl.sum, tl.max and tl.min widen small integers.
static std::string result_type(const char* function, const std::string& type) {
  return StringRef(type).starts_with("int") && type != "int64" ? "int32" : type;
}

Code KernelEmitter::compute_reduce(ReduceOp reduce) {
  auto type = cast<RankedTensorType>(reduce.getSource().getType());
  Type element = element_type(type);
  std::string name = type_name(element, reduce.getLoc());
  Code source = code_of(reduce.getSource());
  source = reinterpreted(source, signed_type(source.type));
  Code neutral = literal(neutral_element(reduce.getKind(), element));
  for (auto [valid, dim] : llvm::zip(reduce.getValid(), reduce.getValidDims()))
    if (!missing_.is_neutral(reduce, dim)) source = masked(source, type, dim, valid, neutral);
  SmallVector<int64_t> present = squeezed_dims(type), axes;
  for (int64_t dim : reduce.getDims())
    if (auto at = llvm::find(present, dim); at != present.end()) axes.push_back(at - present.begin());
  if (axes.empty()) return source;
  source = in_full(source, type);
  llvm::sort(axes);
  // A truth value is a number for Triton's reductions.
  const bool is_bool = element.isInteger(1);
  const bool is_any = reduce.getKind() == Reduction::Or || reduce.getKind() == Reduction::Max;
  const bool as_number = is_bool && (is_any || reduce.getKind() == Reduction::And ||
                                     reduce.getKind() == Reduction::Min || reduce.getKind() == Reduction::Mul);
  if (as_number) source = converted(source, "int32");
  if (source.type == "bfloat16") source = converted(source, "float32"); // as all of Triton's reductions do
  const char* function = as_number ? (is_any ? "tl.max" : "tl.min") : known_function(reduce);
  // The last axis first, so that the numbers of the others stay.
  for (int64_t axis : llvm::reverse(axes)) {
    SmallVector<int64_t> shape = source.shape;
    shape.erase(shape.begin() + axis);
    if (function)
      source = {fmt::format("{}({}, axis={})", function, source.text, axis), Binding::Atom,
                result_type(function, source.type), shape};
    else
      source = {fmt::format("tl.reduce({}, {}, {})", source.text, axis,
                            reduction_function(reduce.getKind(), element, reduce.getLoc())),
                Binding::Atom, source.type, shape};
  }
  if (as_number) return compare(source, "!=", integer(0));
  return converted(source, name);
}

//===----------------------------------------------------------------------===//
// Dots
//===----------------------------------------------------------------------===//

Code KernelEmitter::compute_dot(DotOp dot) {
  auto a_type = cast<RankedTensorType>(dot.getA().getType()), b_type = cast<RankedTensorType>(dot.getB().getType());
  auto type = cast<RankedTensorType>(dot.getType());
  const int64_t rank = type.getRank(), rows = type.getDimSize(rank - 2), columns = type.getDimSize(rank - 1);
  const int64_t sum = a_type.getDimSize(rank - 1);
  Code a = code_of(dot.getA()), b = code_of(dot.getB());
  Code zero{isa<FloatType>(element_type(a_type)) ? "0.0" : "0", Binding::Atom, ""};
  if (!missing_.adds_nothing(dot)) {
    if (missing_.content(dot.getA(), rank - 1) != 0.0) a = masked(a, a_type, rank - 1, dot.getValid(), zero);
    if (missing_.content(dot.getB(), rank - 2) != 0.0) b = masked(b, b_type, rank - 2, dot.getValid(), zero);
  }
  std::string result = type_name(type, dot.getLoc());
  a = in_full(a, a_type);
  b = in_full(b, b_type);
  Code acc = code_of(dot.getAcc());
  const bool starts_at_zero = acc.is_literal() && (acc.text == "0.0" || acc.text == "0");
  // Tensor cores multiply tiles of 16 and more; smaller products are sums.
  constexpr int64_t kLeast = 16;
  int64_t batches = 1;
  for (int64_t dim = 0; dim + 2 < rank; ++dim) batches *= type.getDimSize(dim);
  if (rows < kLeast || columns < kLeast || sum < kLeast || batches > 1) {
    // With the summed dimension in the middle: [.., m, k, 1] * [.., 1, k, n].
    std::vector<int64_t> a_shape(a_type.getShape()), b_shape(b_type.getShape()), product(type.getShape());
    product.insert(product.end() - 1, sum);
    Code left = a, right = b;
    left.type = right.type = "";
    auto with_dim = [&](const Code& code, ArrayRef<int64_t> shape, int64_t missing) {
      std::vector<std::string> subscripts;
      Code spread{code.within(Binding::Atom), Binding::Atom, code.type, {}};
      for (auto [dim, size] : llvm::enumerate(product)) {
        if (size == 1) continue;
        const bool is_new = static_cast<int64_t>(dim) == missing;
        subscripts.emplace_back(is_new ? "None" : ":");
        spread.shape.push_back(is_new ? 1 : size);
      }
      if (llvm::is_contained(subscripts, "None")) spread.text += fmt::format("[{}]", fmt::join(subscripts, ", "));
      return spread;
    };
    std::string wide = result;
    Code terms = binary(with_dim(converted(a, wide), a_shape, rank), "*",
                        with_dim(converted(b, wide), b_shape, rank - 2), Binding::Product, wide);
    int64_t axis = 0;
    for (int64_t dim = 0; dim < rank - 1; ++dim) axis += product[dim] != 1;
    SmallVector<int64_t> shape = squeezed_shape(type);
    Code total =
        sum == 1 ? terms : Code{fmt::format("tl.sum({}, axis={})", terms.text, axis), Binding::Atom, wide, shape};
    return starts_at_zero ? total : binary(acc, "+", total, Binding::Sum, result);
  }
  if (a.type != b.type) {
    a = converted(a, result);
    b = converted(b, result);
  }
  std::string options;
  if (a.type == "float32") options = ", input_precision=\"ieee\"";
  if (result != "float32" && result != "int32") options += fmt::format(", out_dtype=tl.{}", result);
  if (!starts_at_zero) options = ", acc=" + in_full(acc, type).text + options;
  // A dot of integers accumulates in int32, others at least in float32.
  return {fmt::format("tl.dot({}, {}{})", a.text, b.text, options), Binding::Atom, result, squeezed_shape(type)};
}

//===----------------------------------------------------------------------===//
// The user's combiners
//===----------------------------------------------------------------------===//

// With a flag, the values on a side count only where its flag is set: lanes that do not exist take no part.
std::string KernelEmitter::combiner_function(Operation* op, Block& block, bool with_flag) {
  const unsigned count = block.getNumArguments() / 2;
  Writer outer = std::move(writer_);
  writer_ = outer.of_another_function();
  std::vector<std::string> parameters;
  auto side = [&](unsigned first, const char* letter) {
    for (unsigned i = 0; i < count; ++i) {
      Value argument = block.getArgument(first + i);
      std::string name = writer_.unique(count == 1 ? letter : fmt::format("{}{}", letter, i));
      codes_[argument] = {name, Binding::Atom, type_name(argument.getType(), op->getLoc())};
      parameters.push_back(name);
    }
    if (with_flag) parameters.push_back(writer_.unique(fmt::format("{}_exists", letter)));
  };
  side(0, "a");
  side(count, "b");
  writer_.enter(&block);
  emit_block(block);
  std::vector<std::string> results;
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
    std::string result = in_full(value).text;
    if (with_flag)
      result = fmt::format("tl.where(a_exists & b_exists, {}, tl.where(a_exists, {}, {}))", result, parameters[i],
                           parameters[count + 1 + i]);
    results.push_back(result);
  }
  if (with_flag) results.emplace_back("a_exists | b_exists");
  std::string text = fmt::format("({}):\n", fmt::join(parameters, ", "));
  for (const std::string& line : writer_.take_lines()) text += "    " + line + "\n";
  text += fmt::format("    return {}", fmt::join(results, ", "));
  writer_ = std::move(outer);
  auto [known, is_new] = functions_.try_emplace(text, "");
  if (is_new) {
    known->second = writer_.unique("_combine");
    function_.combiners.push_back(fmt::format("@triton.jit\ndef {}{}", known->second, text));
  }
  return known->second;
}

// The one op that a combiner of one value is; null where it is more.
static Operation* only_op(Block& block) {
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2) return nullptr;
  Operation* op = &block.front();
  if (op->getNumOperands() != 2 || block.getTerminator()->getOperand(0) != op->getResult(0)) return nullptr;
  return op->getOperand(0) == block.getArgument(0) && op->getOperand(1) == block.getArgument(1) ? op : nullptr;
}

static Code flag_code(const Code& mask, ArrayRef<int64_t> shape) {
  return {fmt::format("tl.broadcast_to({}, {})", mask.text, tuple(shape)), Binding::Atom, "int1",
          SmallVector<int64_t>(shape)};
}

void KernelEmitter::emit_combine(CombineOp op) {
  auto type = cast<RankedTensorType>(op.getSources()[0].getType());
  SmallVector<int64_t> present = squeezed_dims(type), shape = squeezed_shape(type);
  auto at = llvm::find(present, static_cast<int64_t>(op.getDim()));
  if (at == present.end()) { // of one lane: itself
    if (op.getValid()) refuse(op, "a combiner over a dimension of one lane that may not exist");
    for (auto [result, source] : llvm::zip(op.getResults(), op.getSources())) define(result, code_of(source));
    return;
  }
  const int64_t axis = at - present.begin();
  std::vector<std::string> sources, names;
  for (Value source : op.getSources()) sources.push_back(in_full(source).text);
  if (op.getValid()) {
    std::optional<Code> mask = lanes_mask(op.getValid(), type.getShape(), op.getDim());
    sources.push_back(flag_code(*mask, shape).text);
  }
  std::string function = combiner_function(op, op.block(), op.getValid() != nullptr);
  for (Value result : op.getResults()) names.push_back(result.use_empty() ? writer_.unique("_") : name_of(result));
  std::string flag;
  std::vector<std::string> targets = names;
  if (op.getValid()) targets.push_back(flag = writer_.unique("exists"));
  std::string given = sources.size() == 1 ? sources[0] : fmt::format("({})", fmt::join(sources, ", "));
  writer_.line(fmt::format("{} = tl.reduce({}, {}, {})", fmt::join(targets, ", "), given, axis, function), op.getLoc());
  shape.erase(shape.begin() + axis);
  for (auto [result, name, other] : llvm::zip(op.getResults(), names, op.getOther())) {
    std::string element = type_name(result.getType(), op.getLoc());
    if (op.getValid()) writer_.line(fmt::format("{} = tl.where({}, {}, {})", name, flag, name, code_of(other).text));
    codes_[result] = {name, Binding::Atom, element, shape};
  }
}

void KernelEmitter::emit_scan(ScanOp op) {
  auto type = cast<RankedTensorType>(op.getSources()[0].getType());
  SmallVector<int64_t> present = squeezed_dims(type), shape = squeezed_shape(type);
  auto at = llvm::find(present, static_cast<int64_t>(op.getDim()));
  if (at == present.end()) {
    for (auto [result, source] : llvm::zip(op.getResults(), op.getSources())) define(result, code_of(source));
    return;
  }
  const int64_t axis = at - present.begin();
  // Forward, lanes that do not exist come last and are seen by none that does.
  const bool with_flag = op.getValid() && op.getReverse();
  const char* reverse = op.getReverse() ? ", reverse=True" : "";
  std::vector<std::string> sources, names;
  for (Value source : op.getSources()) sources.push_back(in_full(source).text);
  for (Value result : op.getResults()) names.push_back(result.use_empty() ? writer_.unique("_") : name_of(result));
  for (auto [result, name] : llvm::zip(op.getResults(), names))
    codes_[result] = {name, Binding::Atom, type_name(result.getType(), op.getLoc()), shape};
  if (Operation* only = only_op(op.block());
      only && isa<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::MulIOp>(only) && !with_flag) {
    const char* function = isa<arith::AddFOp, arith::AddIOp>(only) ? "tl.cumsum" : "tl.cumprod";
    Code& code = codes_[op.getResult(0)];
    if (code.type == "float32" || code.type == "float64" || code.type == "int32" || code.type == "int64")
      return writer_.line(fmt::format("{} = {}({}, {}{})", names[0], function, sources[0], axis, reverse), op.getLoc());
  }
  if (with_flag) {
    std::optional<Code> mask = lanes_mask(op.getValid(), type.getShape(), op.getDim());
    sources.push_back(flag_code(*mask, shape).text);
    names.push_back(writer_.unique("_"));
  }
  std::string function = combiner_function(op, op.block(), with_flag);
  std::string given = sources.size() == 1 ? sources[0] : fmt::format("({})", fmt::join(sources, ", "));
  writer_.line(
      fmt::format("{} = tl.associative_scan({}, {}, {}{})", fmt::join(names, ", "), given, axis, function, reverse),
      op.getLoc());
}

} // namespace tilewright::triton
