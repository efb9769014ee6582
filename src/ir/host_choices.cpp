#include "ir/host_choices.h"

using namespace mlir;

namespace tilewright {

static std::optional<int64_t> integer(DictionaryAttr from, StringRef name) {
  auto value = from.getAs<IntegerAttr>(name);
  return value ? std::optional(value.getInt()) : std::nullopt;
}

template <class Read> static void for_each_entry(KernelOp kernel, StringRef name, Read&& read) {
  auto list = kernel->getAttrOfType<ArrayAttr>(name);
  if (!list) return;
  for (Attribute entry : list) read(cast<DictionaryAttr>(entry));
}

HostChoices host_choices(KernelOp kernel) {
  HostChoices choices;
  for_each_entry(kernel, "blocks", [&](DictionaryAttr entry) {
    RegisteredBlock block{static_cast<uint32_t>(*integer(entry, "block"))};
    if (auto extent = entry.getAs<DimAttr>("extent")) block.extent = extent.dim();
    block.min = integer(entry, "min").value_or(1);
    block.max = integer(entry, "max");
    block.value = integer(entry, "value");
    choices.blocks.push_back(block);
  });
  for_each_entry(kernel, "tunables", [&](DictionaryAttr entry) {
    choices.tunables.push_back({entry.getAs<StringAttr>("name").getValue().str(),
                                SmallVector<int64_t>(entry.getAs<DenseI64ArrayAttr>("choices").asArrayRef()),
                                *integer(entry, "value")});
  });
  return choices;
}

void set_host_choices(KernelOp kernel, const HostChoices& choices) {
  Builder builder(kernel.getContext());
  auto named = [&](StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  };
  SmallVector<Attribute> blocks, tunables;
  for (const RegisteredBlock& block : choices.blocks) {
    SmallVector<NamedAttribute> entry{named("block", block.block)};
    if (block.extent) entry.push_back(builder.getNamedAttr("extent", DimAttr::get(kernel.getContext(), *block.extent)));
    if (block.min != 1) entry.push_back(named("min", block.min));
    if (block.max) entry.push_back(named("max", *block.max));
    if (block.value) entry.push_back(named("value", *block.value));
    blocks.push_back(builder.getDictionaryAttr(entry));
  }
  for (const Tunable& tunable : choices.tunables)
    tunables.push_back(
        builder.getDictionaryAttr({builder.getNamedAttr("name", builder.getStringAttr(tunable.name)),
                                   builder.getNamedAttr("choices", builder.getDenseI64ArrayAttr(tunable.choices)),
                                   named("value", tunable.value)}));
  if (!blocks.empty()) kernel->setAttr("blocks", builder.getArrayAttr(blocks));
  if (!tunables.empty()) kernel->setAttr("tunables", builder.getArrayAttr(tunables));
}

static LogicalResult verify_entries(KernelOp kernel, StringRef name,
                                    llvm::function_ref<bool(DictionaryAttr)> is_legal) {
  Attribute attribute = kernel->getAttr(name);
  if (!attribute) return success();
  auto list = dyn_cast<ArrayAttr>(attribute);
  for (Attribute entry : list ? list.getValue() : ArrayRef<Attribute>(attribute)) {
    auto dictionary = dyn_cast<DictionaryAttr>(entry);
    if (!dictionary || !is_legal(dictionary))
      return kernel.emitOpError("has no such entry of `") << name << "`: " << entry;
  }
  return success();
}

LogicalResult verify_host_choices(KernelOp kernel) {
  auto is_integer = [](DictionaryAttr entry, StringRef name, bool required) {
    Attribute value = entry.get(name);
    if (!value) return !required;
    auto number = dyn_cast<IntegerAttr>(value);
    return number && number.getType().isSignlessInteger(64);
  };
  // As many as a kernel can have: an entry's number is that of a list in the config.
  constexpr int64_t kMostBlocks = 1 << 16;
  if (failed(verify_entries(kernel, "blocks", [&](DictionaryAttr entry) {
        if (!is_integer(entry, "block", true) || !is_integer(entry, "min", false) || !is_integer(entry, "max", false) ||
            !is_integer(entry, "value", false))
          return false;
        int64_t block = *integer(entry, "block");
        return block >= 0 && block < kMostBlocks && integer(entry, "min").value_or(1) >= 1 &&
               integer(entry, "value").value_or(1) >= 1;
      })))
    return failure();
  return verify_entries(kernel, "tunables", [&](DictionaryAttr entry) {
    auto choices = entry.getAs<DenseI64ArrayAttr>("choices");
    return entry.getAs<StringAttr>("name") && choices && !choices.empty() && is_integer(entry, "value", true);
  });
}

} // namespace tilewright
