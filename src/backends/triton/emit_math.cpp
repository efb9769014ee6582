// Functions. Those of triton.language where they are as accurate as PyTorch's, else those of libdevice, which are
// PyTorch's own.
#include "backends/triton/kernel_emitter.h"

#include "llvm/ADT/TypeSwitch.h"

#include <fmt/format.h>

using namespace mlir;

namespace tilewright::triton {

static bool is_narrow_float(StringRef type) { return type == "bfloat16" || type == "float16"; }

Code KernelEmitter::at_least_float32(const Code& x) { return is_narrow_float(x.type) ? converted(x, "float32") : x; }

// libdevice has float32 and float64.
Code KernelEmitter::library(const char* function, ArrayRef<Code> operands, const std::string& type) {
  function_.uses_libdevice = true;
  const std::string wide = is_narrow_float(type) ? "float32" : type;
  SmallVector<Code> arguments;
  for (const Code& operand : operands) arguments.push_back(converted(operand, wide));
  return converted(call(std::string("libdevice.") + function, arguments, wide), type);
}

// Whether the value is a rounded one: then a function of it has an error of that size already.
static bool is_inexact(Value value) {
  while (Operation* op = value.getDefiningOp()) {
    if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, DotOp, math::FmaOp>(op)) return true;
    if (!isa<BroadcastOp, ExpandDimsOp, TransposeOp, ReshapeOp, arith::SelectOp, arith::NegFOp>(op)) return false;
    value = op->getOperand(isa<arith::SelectOp>(op) ? 1 : 0);
  }
  return false;
}

// tl.exp multiplies by log2(e) and rounds, before it takes a power of two: a relative error of |x| * 2^-24. The same as
// an operand brings along that was rounded before; what is rounded to 16 bits behind it does not show it either.
Code KernelEmitter::exponential(Operation* op, Code x) {
  std::string type = type_name(op->getResult(0).getType(), op->getLoc());
  if (type == "float32" && !is_inexact(op->getOperand(0)) && !is_rounded_after(op)) return library("exp", {x}, type);
  x = at_least_float32(x);
  return converted(call("tl.exp", {x}, x.type), type);
}

std::optional<Code> KernelEmitter::compute_math(Operation* op) {
  if (!isa<math::MathDialect>(op->getDialect()) || op->getNumResults() != 1) return std::nullopt;
  const std::string type = type_name(op->getResult(0).getType(), op->getLoc());
  SmallVector<Code> operands;
  for (Value operand : op->getOperands()) operands.push_back(code_of(operand));
  if (llvm::all_of(operands, [](const Code& operand) { return operand.is_literal(); }))
    operands[0] = converted(operands[0], type);
  const Code& x = operands[0];
  auto language = [&](const char* function) {
    SmallVector<Code> wide;
    for (const Code& operand : operands) wide.push_back(at_least_float32(operand));
    return converted(call(function, wide, is_narrow_float(type) ? "float32" : type), type);
  };
  auto of_library = [&](const char* function) { return library(function, operands, type); };
  return llvm::TypeSwitch<Operation*, std::optional<Code>>(op)
      .Case([&](math::ExpOp) { return exponential(op, x); })
      .Case([&](math::Exp2Op) { return language("tl.exp2"); })
      .Case([&](math::RsqrtOp) { return language("tl.rsqrt"); })
      .Case([&](math::ErfOp) { return language("tl.erf"); })
      .Case([&](math::FloorOp) { return language("tl.floor"); })
      .Case([&](math::CeilOp) { return language("tl.ceil"); })
      .Case([&](math::AbsFOp) { return call("tl.abs", {x}, type); })
      .Case([&](math::AbsIOp) { return call("tl.abs", {x}, type); })
      .Case([&](math::FmaOp) { return language("tl.fma"); })
      .Case([&](math::SqrtOp) { return type == "float32" ? language("tl.sqrt_rn") : language("tl.sqrt"); })
      .Case([&](math::ExpM1Op) { return of_library("expm1"); })
      .Case([&](math::LogOp) { return of_library("log"); })
      .Case([&](math::Log2Op) { return of_library("log2"); })
      .Case([&](math::Log10Op) { return of_library("log10"); })
      .Case([&](math::Log1pOp) { return of_library("log1p"); })
      .Case([&](math::SinOp) { return of_library("sin"); })
      .Case([&](math::CosOp) { return of_library("cos"); })
      .Case([&](math::TanOp) { return of_library("tan"); })
      .Case([&](math::AsinOp) { return of_library("asin"); })
      .Case([&](math::AcosOp) { return of_library("acos"); })
      .Case([&](math::AtanOp) { return of_library("atan"); })
      .Case([&](math::SinhOp) { return of_library("sinh"); })
      .Case([&](math::CoshOp) { return of_library("cosh"); })
      .Case([&](math::TanhOp) { return of_library("tanh"); })
      .Case([&](math::AsinhOp) { return of_library("asinh"); })
      .Case([&](math::AcoshOp) { return of_library("acosh"); })
      .Case([&](math::AtanhOp) { return of_library("atanh"); })
      .Case([&](math::CbrtOp) { return of_library("cbrt"); })
      .Case([&](math::Atan2Op) { return of_library("atan2"); })
      .Case([&](math::PowFOp) { return of_library("pow"); })
      .Case([&](math::CopySignOp) { return of_library("copysign"); })
      .Case([&](math::TruncOp) { return of_library("trunc"); })
      .Case([&](math::RoundOp) { return of_library("round"); })
      .Case([&](math::RoundEvenOp) { return of_library("rint"); })
      .Default([](Operation*) { return std::nullopt; });
}

// In float32 for 16-bit operands, and rounded once.
Code KernelEmitter::compute_composite(CompositeOp op) {
  const std::string type = type_name(op.getType(), op.getLoc());
  Code x = at_least_float32(code_of(op.getOperand()));
  if (x.is_literal()) x = converted(x, is_narrow_float(type) ? "float32" : type);
  // Formulas read their operand more than once.
  const bool needs_name = llvm::is_contained(
      {Composite::Silu, Composite::Gelu, Composite::GeluTanh, Composite::Softplus}, op.getFunction());
  if (needs_name && x.text.find_first_of("(. ") != std::string::npos) {
    std::string name = writer_.unique("x");
    writer_.line(name + " = " + x.text, op.getLoc());
    x = {name, Binding::Atom, x.type, x.shape};
  }
  const std::string wide = x.type;
  const std::string& name = x.text;
  auto formula = [&](const std::string& text, Binding binding) {
    return converted(Code{text, binding, wide, x.shape}, type);
  };
  // As exact as exp and the division are.
  const bool is_exact =
      wide == "float64" || is_narrow_float(type) || is_rounded_after(op) || is_inexact(op.getOperand());
  std::string sigmoid = fmt::format("tl.sigmoid({})", name);
  if (!is_exact && (op.getFunction() == Composite::Sigmoid || op.getFunction() == Composite::Silu)) {
    function_.uses_libdevice = true;
    sigmoid = fmt::format("tl.div_rn(1.0, 1.0 + libdevice.exp(-{}))", x.within(Binding::Unary));
  }
  switch (op.getFunction()) {
  case Composite::Sigmoid: return formula(sigmoid, Binding::Atom);
  case Composite::Silu: return formula(fmt::format("{} * {}", name, sigmoid), Binding::Product);
  case Composite::Gelu:
    return formula(fmt::format("0.5 * {0} * (1.0 + tl.erf({0} * 0.7071067811865476))", name), Binding::Product);
  case Composite::GeluTanh:
    function_.uses_libdevice = true;
    return formula(fmt::format("0.5 * {0} * (1.0 + libdevice.tanh(0.7978845608028654 * ({0} + 0.044715 * {0} * {0} * "
                               "{0})))",
                               name),
                   Binding::Product);
  case Composite::Softplus:
    function_.uses_libdevice = true;
    return formula(fmt::format("tl.maximum({0}, 0.0, propagate_nan=tl.PropagateNan.ALL) + "
                               "libdevice.log1p(libdevice.exp(-tl.abs({0})))",
                               name),
                   Binding::Sum);
  case Composite::Erfc: return library("erfc", {x}, type);
  case Composite::Erfinv: return library("erfinv", {x}, type);
  case Composite::Lgamma: return library("lgamma", {x}, type);
  }
  llvm_unreachable("no such function");
}

} // namespace tilewright::triton
