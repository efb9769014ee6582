// IR for tests, written as text.
#pragma once

#include "ir/context.h"
#include "ir/tile_dialect.h"

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

// `text` with each `$name` replaced by its value: with("[$m, $n]", {{"m", 7}, {"n", 3}}) is "[7, 3]". No name may be
// the beginning of another.
struct Replacement {
  Replacement(std::string_view name, int64_t value) : name(name), value(std::to_string(value)) {}
  Replacement(std::string_view name, std::string_view value) : name(name), value(value) {}
  std::string_view name;
  std::string value;
};
inline std::string with(std::string text, std::initializer_list<Replacement> replacements) {
  for (const Replacement& replacement : replacements) {
    std::string key(1, '$');
    key += replacement.name;
    for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at))
      text.replace(at, key.size(), replacement.value);
  }
  return text;
}

// Parsed and verified IR with its context.
class IrText {
public:
  explicit IrText(std::string_view text)
      : context_(tilewright::make_context()), module_(tilewright::parse_module(text, context_.get())) {}

  // The first one.
  tilewright::KernelOp kernel() { return *module_->getOps<tilewright::KernelOp>().begin(); }
  tilewright::ProgramOp program() { return *module_->getOps<tilewright::ProgramOp>().begin(); }
  mlir::MLIRContext* context() { return context_.get(); }
  mlir::ModuleOp module() { return *module_; }

private:
  std::unique_ptr<mlir::MLIRContext> context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};
