#include "backends/triton/code.h"

#include "ir/context.h"
#include "support/error.h"

#include "llvm/ADT/APFloat.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;

namespace tilewright::triton {

std::string type_name(Type type, Location location) {
  type = element_type(type);
  if (type.isF16()) return "float16";
  if (type.isBF16()) return "bfloat16";
  if (type.isF32()) return "float32";
  if (type.isF64()) return "float64";
  if (type.isIndex()) return "int32";
  if (type.isFloat8E4M3FN() || type.isFloat8E5M2())
    fail(source_location(location), "the triton backend does not support elements of type {}",
         type.isFloat8E5M2() ? "float8_e5m2" : "float8_e4m3fn");
  if (auto integer = dyn_cast<IntegerType>(type)) return fmt::format("int{}", integer.getWidth());
  std::string text;
  llvm::raw_string_ostream(text) << type;
  fail(source_location(location), "the triton backend does not support elements of type {}", text);
}

std::string memory_type(AccessOp access) {
  std::string type = type_name(access.block(), access.operation()->getLoc());
  return access.array_type().getElementType().isUnsignedInteger() ? unsigned_type(type) : type;
}

std::string unsigned_type(StringRef type) {
  return type == "int1" || type.starts_with("uint") ? type.str() : "u" + type.str();
}

std::string signed_type(StringRef type) { return type.starts_with("uint") ? type.drop_front().str() : type.str(); }

bool is_unsigned(const Code& code) { return StringRef(code.type).starts_with("uint"); }

Code call(const std::string& function, ArrayRef<Code> arguments, const std::string& type) {
  std::string text = function + "(";
  for (auto [i, argument] : llvm::enumerate(arguments)) text += (i ? ", " : "") + argument.text;
  return {text + ")", Binding::Atom, type, common_shape(arguments)};
}

Code binary(const Code& a, const char* op, const Code& b, Binding binding, const std::string& type) {
  auto next = static_cast<Binding>(static_cast<int>(binding) + 1);
  return {a.within(binding) + " " + op + " " + b.within(next), binding, type, common_shape({a, b})};
}

Code compare(const Code& a, const char* op, const Code& b) {
  // Python chains comparisons, so both sides bind more tightly.
  return {a.within(Binding::Or) + " " + op + " " + b.within(Binding::Or), Binding::Comparison, "int1",
          common_shape({a, b})};
}

Code converted(Code x, const std::string& type) {
  if (x.type == type) return x;
  if (x.is_literal()) return {fmt::format("tl.full((), {}, tl.{})", x.text, type), Binding::Atom, type};
  return {fmt::format("{}.to(tl.{})", x.within(Binding::Atom), type), Binding::Atom, type, x.shape};
}

Code reinterpreted(Code x, const std::string& type) {
  if (x.type == type) return x;
  if (x.is_literal()) {
    int bits = 0;
    if (!StringRef(type).starts_with("uint") || StringRef(type).drop_front(4).getAsInteger(10, bits)) return x;
    const int64_t value = std::stoll(x.text);
    if (value >= 0) return x;
    uint64_t pattern = static_cast<uint64_t>(value);
    if (bits < 64) pattern &= (uint64_t(1) << bits) - 1;
    return {std::to_string(pattern), Binding::Atom, ""};
  }
  return {fmt::format("{}.to(tl.{}, bitcast=True)", x.within(Binding::Atom), type), Binding::Atom, type, x.shape};
}

SmallVector<int64_t> common_shape(ArrayRef<Code> operands) {
  SmallVector<int64_t> shape;
  for (const Code& operand : operands) {
    if (operand.shape.size() > shape.size()) shape.insert(shape.begin(), operand.shape.size() - shape.size(), 1);
    for (size_t i = 0; i < operand.shape.size(); ++i) {
      int64_t& size = shape[shape.size() - 1 - i];
      size = std::max(size, operand.shape[operand.shape.size() - 1 - i]);
    }
  }
  return shape;
}

std::string tuple(ArrayRef<std::string> elements) {
  return elements.size() == 1 ? fmt::format("({},)", elements[0]) : fmt::format("({})", fmt::join(elements, ", "));
}

std::string tuple(ArrayRef<int64_t> elements) {
  std::vector<std::string> texts;
  for (int64_t element : elements) texts.push_back(std::to_string(element));
  return tuple(texts);
}

SmallVector<int64_t> squeezed_shape(Type type) {
  SmallVector<int64_t> shape;
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    llvm::copy_if(tensor.getShape(), std::back_inserter(shape), [](int64_t size) { return size != 1; });
  return shape;
}

SmallVector<int64_t> squeezed_dims(Type type) {
  SmallVector<int64_t> dims;
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    for (auto [dim, size] : llvm::enumerate(tensor.getShape()))
      if (size != 1) dims.push_back(static_cast<int64_t>(dim));
  return dims;
}

// The shortest decimal that reads back as the same number of the type: Triton rounds a literal to the other operand's.
static std::string float_text(const APFloat& value) {
  if (value.isNaN()) return "float(\"nan\")";
  if (value.isInfinity()) return value.isNegative() ? "float(\"-inf\")" : "float(\"inf\")";
  const llvm::fltSemantics& semantics = value.getSemantics();
  bool loses = false;
  APFloat wide = value;
  wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
  const double number = wide.convertToDouble();
  for (int digits = 1; digits <= 17; ++digits) {
    std::string text = fmt::format("{:.{}g}", number, digits);
    APFloat back(std::stod(text));
    back.convert(semantics, APFloat::rmNearestTiesToEven, &loses);
    if (!back.bitwiseIsEqual(value)) continue;
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
  }
  return fmt::format("{:.17g}", number);
}

Code literal(TypedAttr constant) {
  std::string text;
  if (auto real = dyn_cast<FloatAttr>(constant))
    text = float_text(real.getValue());
  else if (constant.getType().isInteger(1))
    text = cast<IntegerAttr>(constant).getValue().isZero() ? "False" : "True";
  else
    text = std::to_string(cast<IntegerAttr>(constant).getValue().getSExtValue());
  return {text, text.front() == '-' ? Binding::Unary : Binding::Atom, ""};
}

Code integer(int64_t value) { return {std::to_string(value), value < 0 ? Binding::Unary : Binding::Atom, ""}; }

} // namespace tilewright::triton
