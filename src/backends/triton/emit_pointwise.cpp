// Arithmetic, comparisons and conversions.
#include "backends/triton/kernel_emitter.h"

#include "backends/triton/wide_products.h"
#include "schedule/linear_form.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <fmt/format.h>

using namespace mlir;

namespace tilewright::triton {

static bool is_narrow_float(StringRef type) { return type == "bfloat16" || type == "float16"; }

//===----------------------------------------------------------------------===//
// Indices: never negative where they are divided, and of 32 bits unless they can be larger
//===----------------------------------------------------------------------===//

std::optional<Code> KernelEmitter::compute_index(Operation* op) {
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isIndex() || isa<arith::SelectOp>(op))
    return std::nullopt;
  if (auto conversion = dyn_cast<arith::IndexCastOp>(op)) {
    Code source = code_of(conversion.getIn());
    return reinterpreted(source, signed_type(source.type));
  }
  if (auto conversion = dyn_cast<arith::IndexCastUIOp>(op)) {
    Code source = code_of(conversion.getIn());
    return source.is_literal() ? source : converted(reinterpreted(source, unsigned_type(source.type)), "int64");
  }
  if (op->getNumOperands() != 2) return std::nullopt;
  Code a = code_of(op->getOperand(0)), b = code_of(op->getOperand(1));
  // What an argument's data says can be anything; what the program counts has a range.
  std::string type = a.type == "int64" || b.type == "int64" ? "int64" : "int32";
  if (type == "int32" && isa<arith::MulIOp, arith::AddIOp>(op)) {
    std::optional<int64_t> most = LinearForm::of(op->getResult(0)).maximum();
    // A program's number, of which there is no bound, is below this.
    constexpr int64_t kMostPrograms = 1 << 16;
    for (const Code& factor : {a, b})
      if (!most && isa<arith::MulIOp>(op) && factor.is_literal() && std::stoll(factor.text) > INT32_MAX / kMostPrograms)
        most = INT64_MAX;
    if (most && *most > INT32_MAX) {
      a = converted(a, "int64");
      type = "int64";
    }
  }
  return llvm::TypeSwitch<Operation*, std::optional<Code>>(op)
      .Case([&](arith::AddIOp) { return binary(a, "+", b, Binding::Sum, type); })
      .Case([&](arith::SubIOp) { return binary(a, "-", b, Binding::Sum, type); })
      .Case([&](arith::MulIOp) { return binary(a, "*", b, Binding::Product, type); })
      .Case<arith::DivUIOp, arith::DivSIOp>([&](auto) { return binary(a, "//", b, Binding::Product, type); })
      .Case<arith::RemUIOp, arith::RemSIOp>([&](auto) { return binary(a, "%", b, Binding::Product, type); })
      .Case([&](arith::FloorDivSIOp) {
        // Triton rounds towards zero.
        Code rest = binary(a, "%", b, Binding::Product, type);
        return binary(binary(a, "-", binary(binary(rest, "+", b, Binding::Sum, type), "%", b, Binding::Product, type),
                             Binding::Sum, type),
                      "//", b, Binding::Product, type);
      })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([&](auto) { return call("tl.cdiv", {a, b}, type); })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](auto) { return call("tl.minimum", {a, b}, type); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([&](auto) { return call("tl.maximum", {a, b}, type); })
      .Case([&](arith::AndIOp) { return binary(a, "&", b, Binding::And, type); })
      .Case([&](arith::OrIOp) { return binary(a, "|", b, Binding::Or, type); })
      .Case([&](arith::XOrIOp) { return binary(a, "^", b, Binding::Xor, type); })
      .Case([&](arith::ShLIOp) { return binary(a, "<<", b, Binding::Shift, type); })
      .Case<arith::ShRSIOp, arith::ShRUIOp>([&](auto) { return binary(a, ">>", b, Binding::Shift, type); })
      .Default([](Operation*) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Arithmetic and comparisons
//===----------------------------------------------------------------------===//

// The value of the op's type after an operator that may give another one.
static Code of_type(Code code, const std::string& type) { return converted(std::move(code), type); }

// Two literals are no operands of Triton's; one of them is made a number of the type.
static void make_one_typed(Code& a, const Code& b, const std::string& type) {
  if (a.is_literal() && b.is_literal()) a = converted(a, type);
}

bool KernelEmitter::is_rounded_after(Operation* op) {
  if (op->getResult(0).use_empty()) return false;
  return llvm::all_of(op->getUsers(), [](Operation* user) {
    if (auto truncation = dyn_cast<arith::TruncFOp>(user))
      return element_type(truncation.getType()).getIntOrFloatBitWidth() == 16;
    return false;
  });
}

static std::optional<double> constant_real(Value value) {
  if (auto splat = value.getDefiningOp<SplatOp>()) value = splat.getScalar();
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto real = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  return real ? std::optional(real.getValueAsDouble()) : std::nullopt;
}

// Triton's `/` on float32 may be wrong by two units in the last place; what is rounded to 16 bits next does not show
// it.
Code KernelEmitter::divide(Operation* op, const Code& a, const Code& b) {
  std::string type = type_name(op->getResult(0).getType(), op->getLoc());
  // By a number: times its inverse, as PyTorch divides by numbers on a GPU, too; that of a power of two is exact. Half
  // a unit in the last place is what it may cost, and a division in a loop costs much more than a product.
  if (auto divisor = constant_real(op->getOperand(1)); divisor && type != "float64") {
    int exponent = 0;
    const bool is_exact = std::abs(std::frexp(*divisor, &exponent)) == 0.5 && std::abs(exponent) < 14;
    const float inverse = 1 / static_cast<float>(*divisor);
    if (is_exact || (type == "float32" && std::isnormal(inverse)))
      return binary(a, "*", literal(Builder(op->getContext()).getF32FloatAttr(inverse)), Binding::Product, type);
  }
  if (type == "float32" && !is_rounded_after(op)) return call("tl.div_rn", {a, b}, type);
  Code quotient = binary(a, "/", b, Binding::Product, is_narrow_float(type) ? "float32" : type);
  return of_type(quotient, type);
}

static const char* float_operator(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::OEQ: return "==";
  case P::OGT: return ">";
  case P::OGE: return ">=";
  case P::OLT: return "<";
  case P::OLE: return "<=";
  case P::UNE: return "!=";
  default: return nullptr;
  }
}

static Code negation(const Code& condition) {
  return {"~" + condition.within(Binding::Unary), Binding::Unary, "int1", condition.shape};
}

static Code compare_floats(arith::CmpFPredicate predicate, const Code& a, const Code& b) {
  using P = arith::CmpFPredicate;
  if (const char* op = float_operator(predicate)) return compare(a, op, b);
  auto is_nan = [](const Code& x) { return compare(x, "!=", x); };
  auto either_nan = [&] {
    if (a.text == b.text || b.is_literal()) return is_nan(a);
    return binary(is_nan(a), "|", is_nan(b), Binding::Or, "int1");
  };
  switch (predicate) {
  case P::UNO: return either_nan();
  case P::ORD: return negation(either_nan());
  case P::ONE: return binary(compare(a, "<", b), "|", compare(a, ">", b), Binding::Or, "int1");
  case P::UEQ: return negation(binary(compare(a, "<", b), "|", compare(a, ">", b), Binding::Or, "int1"));
  case P::UGT: return negation(compare(a, "<=", b));
  case P::UGE: return negation(compare(a, "<", b));
  case P::ULT: return negation(compare(a, ">=", b));
  case P::ULE: return negation(compare(a, ">", b));
  default: return compare(a, "!=", a);
  }
}

static Code compare_integers(arith::CmpIPredicate predicate, Code a, Code b) {
  using P = arith::CmpIPredicate;
  // Equality minds no sign, but both sides must have the same.
  const bool is_equality = predicate == P::eq || predicate == P::ne;
  const bool compares_unsigned = is_equality ? is_unsigned(a) || is_unsigned(b) : predicate >= P::ult;
  const std::string known = signed_type(a.is_literal() ? b.type : a.type);
  const std::string type = compares_unsigned ? unsigned_type(known) : known;
  a = reinterpreted(a, type);
  b = reinterpreted(b, type);
  switch (predicate) {
  case P::eq: return compare(a, "==", b);
  case P::ne: return compare(a, "!=", b);
  case P::slt:
  case P::ult: return compare(a, "<", b);
  case P::sle:
  case P::ule: return compare(a, "<=", b);
  case P::sgt:
  case P::ugt: return compare(a, ">", b);
  case P::sge:
  case P::uge: return compare(a, ">=", b);
  }
  llvm_unreachable("no such comparison");
}

std::optional<Code> KernelEmitter::compute_arith(Operation* op) {
  if (!isa<arith::ArithDialect>(op->getDialect()) || op->getNumResults() != 1) return std::nullopt;
  const std::string type = type_name(op->getResult(0).getType(), op->getLoc());
  SmallVector<Code> operands;
  for (Value operand : op->getOperands()) operands.push_back(code_of(operand));
  Code a = operands[0], b = operands.size() > 1 ? operands[1] : Code();
  if (isa<arith::CmpFOp, arith::CmpIOp>(op)) {
    make_one_typed(a, b, type_name(op->getOperand(0).getType(), op->getLoc()));
    if (auto comparison = dyn_cast<arith::CmpFOp>(op)) return compare_floats(comparison.getPredicate(), a, b);
    return compare_integers(cast<arith::CmpIOp>(op).getPredicate(), a, b);
  }
  // Of integers, most ops mind no sign: the result has none where no operand has.
  const bool any_unsigned = llvm::any_of(operands, is_unsigned);
  const std::string result = any_unsigned ? unsigned_type(type) : type;
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Code x = operands[1], y = operands[2];
    if (any_unsigned) x = reinterpreted(x, result), y = reinterpreted(y, result);
    make_one_typed(x, y, result);
    const bool is_wide = op->getResult(0).getType().isIndex() && (x.type == "int64" || y.type == "int64");
    return call("tl.where", {a, x, y}, is_wide ? "int64" : result);
  }
  if (any_unsigned)
    for (Code* operand : {&a, &b}) *operand = reinterpreted(*operand, result);
  if (operands.size() == 2) make_one_typed(a, b, result);
  auto with = [&](const char* sign, Binding binding) { return binary(a, sign, b, binding, result); };
  auto as_signed = [&](const char* sign, Binding binding) {
    return binary(reinterpreted(a, type), sign, reinterpreted(b, type), binding, type);
  };
  auto as_unsigned = [&](const char* sign, Binding binding) {
    std::string other = unsigned_type(type);
    return binary(reinterpreted(a, other), sign, reinterpreted(b, other), binding, other);
  };
  // Triton's maximum and minimum give float32 for bfloat16, and make numbers of literals as they stand: of 32 bits.
  auto type_of_extremum = [&](const std::string& of) -> std::string {
    const bool has_literal = a.is_literal() || b.is_literal();
    if (of == "bfloat16" || (of == "float16" && has_literal)) return "float32";
    if (has_literal && (of == "int8" || of == "int16")) return "int32";
    if (has_literal && (of == "uint8" || of == "uint16")) return "int32";
    return of;
  };
  auto larger_or_smaller = [&](const char* function, const std::string& of) {
    return converted(call(function, {reinterpreted(a, of), reinterpreted(b, of)}, type_of_extremum(of)), of);
  };
  auto propagating = [&](const char* function) {
    Code code = call(function, {a, b}, type_of_extremum(type));
    code.text.pop_back();
    code.text += ", propagate_nan=tl.PropagateNan.ALL)";
    return converted(code, type);
  };
  return llvm::TypeSwitch<Operation*, std::optional<Code>>(op)
      .Case<arith::AddFOp, arith::AddIOp>([&](auto) { return with("+", Binding::Sum); })
      .Case<arith::SubFOp, arith::SubIOp>([&](auto) { return with("-", Binding::Sum); })
      .Case([&](arith::MulIOp) { return with("*", Binding::Product); })
      .Case([&](arith::MulFOp) {
        // One that must not be fused with an addition behind it.
        if (op->hasAttr("tile.rounded") && llvm::any_of(op->getUsers(), llvm::IsaPred<arith::AddFOp, arith::SubFOp>) &&
            (type == "float32" || type == "float64"))
          return library("mul_rn", {a, b}, type);
        return with("*", Binding::Product);
      })
      .Case([&](arith::DivFOp) { return divide(op, a, b); })
      .Case([&](arith::NegFOp) { return Code{"-" + a.within(Binding::Unary), Binding::Unary, type, a.shape}; })
      .Case([&](arith::RemFOp) { return library("fmod", {a, b}, type); })
      .Case([&](arith::MaximumFOp) { return propagating("tl.maximum"); })
      .Case([&](arith::MinimumFOp) { return propagating("tl.minimum"); })
      .Case<arith::MaxNumFOp, arith::MaxSIOp>([&](auto) { return larger_or_smaller("tl.maximum", type); })
      .Case<arith::MinNumFOp, arith::MinSIOp>([&](auto) { return larger_or_smaller("tl.minimum", type); })
      .Case([&](arith::MaxUIOp) { return larger_or_smaller("tl.maximum", unsigned_type(type)); })
      .Case([&](arith::MinUIOp) { return larger_or_smaller("tl.minimum", unsigned_type(type)); })
      .Case([&](arith::DivSIOp) { return as_signed("//", Binding::Product); })
      .Case([&](arith::RemSIOp) { return as_signed("%", Binding::Product); })
      .Case([&](arith::DivUIOp) { return as_unsigned("//", Binding::Product); })
      .Case([&](arith::RemUIOp) { return as_unsigned("%", Binding::Product); })
      .Case([&](arith::FloorDivSIOp) {
        // Triton rounds towards zero: one less where the remainder and the divisor are of different signs.
        a = reinterpreted(a, type), b = reinterpreted(b, type);
        Code rest = binary(a, "%", b, Binding::Product, type), quotient = binary(a, "//", b, Binding::Product, type);
        Code off = binary(compare(rest, "!=", integer(0)), "&",
                          compare(binary(rest, "^", b, Binding::Xor, type), "<", integer(0)), Binding::And, "int1");
        return binary(quotient, "-", converted(off, type), Binding::Sum, type);
      })
      .Case([&](arith::AndIOp) { return with("&", Binding::And); })
      .Case([&](arith::OrIOp) { return with("|", Binding::Or); })
      .Case([&](arith::XOrIOp) {
        if (type == "int1" && b.text == "True") return negation(a);
        return with("^", Binding::Xor);
      })
      .Case([&](arith::ShLIOp) { return with("<<", Binding::Shift); })
      .Case([&](arith::ShRSIOp) { return as_signed(">>", Binding::Shift); })
      .Case([&](arith::ShRUIOp) { return as_unsigned(">>", Binding::Shift); })
      .Default([](Operation*) { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

// Half of a product of 32-bit numbers that was formed in 64 bits (wide_products.h).
std::optional<Code> KernelEmitter::half_of_product(Operation* op) {
  std::optional<HalfOfProduct> half = half_of_wide_product(op);
  if (!half) return std::nullopt;
  auto factor = [&](Value value) {
    Code code = code_of(value);
    if (!code.is_literal()) return reinterpreted(code, "uint32");
    return integer(static_cast<int64_t>(static_cast<uint32_t>(std::stoll(code.text))));
  };
  Code a = factor(half->a), b = factor(half->b);
  if (a.is_literal()) std::swap(a, b);
  if (half->is_upper) return call("tl.umulhi", {a, b}, "uint32");
  return binary(a, "*", b, Binding::Product, "uint32");
}

std::optional<Code> KernelEmitter::compute_cast(Operation* op) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1) return std::nullopt;
  Location loc = op->getLoc();
  Value source = op->getOperand(0);
  if (!isa<arith::ArithDialect>(op->getDialect())) return std::nullopt;
  const std::string type = type_name(op->getResult(0).getType(), loc);
  auto operand = [&] {
    Code code = code_of(source);
    return code.is_literal() ? converted(code, type_name(source.getType(), loc)) : code;
  };
  return llvm::TypeSwitch<Operation*, std::optional<Code>>(op)
      .Case<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::TruncIOp, arith::SIToFPOp, arith::FPToSIOp>(
          [&](auto) -> std::optional<Code> {
            if (std::optional<Code> half = half_of_product(op)) return half;
            Code code = operand();
            if (isa<arith::ExtSIOp, arith::SIToFPOp>(op)) code = reinterpreted(code, signed_type(code.type));
            if (isa<arith::ExtSIOp, arith::SIToFPOp>(op) && code.type == "int1") // a set bit is -1 as a signed number
              return Code{"-" + converted(code, type).text, Binding::Unary, type, code.shape};
            return converted(code, type);
          })
      .Case<arith::IndexCastOp>([&](auto) {
        Code code = operand();
        return converted(reinterpreted(code, signed_type(code.type)), type);
      })
      .Case<arith::ExtUIOp, arith::UIToFPOp, arith::IndexCastUIOp>([&](auto) {
        Code code = operand();
        return converted(reinterpreted(code, unsigned_type(code.type)), type);
      })
      .Case([&](arith::FPToUIOp) {
        if (type == "int1") return compare(operand(), "!=", Code{"0", Binding::Atom, ""});
        return reinterpreted(converted(operand(), unsigned_type(type)), type);
      })
      .Case([&](arith::BitcastOp) { return reinterpreted(operand(), type); })
      .Default([](Operation*) { return std::nullopt; });
}

} // namespace tilewright::triton
