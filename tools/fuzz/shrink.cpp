#include "fuzz/shrink.h"

#include "fuzz/forms.h"
#include "fuzz/inputs.h"
#include "fuzz/record_kernel.h"
#include "fuzz/tidy_kernel.h"

#include "config/normalise.h"

#include <algorithm>
#include <cctype>
#include <functional>

namespace tilewright::fuzz {
namespace {

using Change = std::function<bool(FuzzKernel&)>; // false: nothing to change

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

/// The `index`-th statement of the kernel, with the block it stands in; null where there are fewer.
struct At {
  std::vector<Statement>* block = nullptr;
  size_t position = 0;
  Statement* operator->() const { return &(*block)[position]; }
  Statement& operator*() const { return (*block)[position]; }
  explicit operator bool() const { return block; }
};

At statement_at(std::vector<Statement>& block, size_t& index) {
  for (size_t i = 0; i < block.size(); ++i) {
    if (index-- == 0) return {&block, i};
    if (At found = statement_at(block[i].body, index)) return found;
  }
  return {};
}

size_t count_statements(const FuzzKernel& kernel) {
  size_t count = 0;
  for_each_statement(kernel.body, [&](const Statement&) { ++count; });
  return count;
}

void replace_uses(FuzzKernel& kernel, ValueId from, ValueId to) {
  for_each_statement(kernel.body, [&](Statement& statement) {
    for (FuzzOperand& operand : statement.operands)
      if (operand.kind == FuzzOperand::Kind::value && operand.value == from) operand.value = to;
    for (FuzzSubscript& subscript : statement.subscripts)
      if (subscript.value == from) subscript.value = to;
  });
}

bool erase_statement(FuzzKernel& kernel, size_t index) {
  At at = statement_at(kernel.body, index);
  if (!at) return false;
  at.block->erase(at.block->begin() + static_cast<int64_t>(at.position));
  return true;
}

// One of its operands stands for the value. Where that does not fit, the kernel is refused, and so is the change.
bool bypass_statement(FuzzKernel& kernel, size_t index, size_t operand) {
  At at = statement_at(kernel.body, index);
  if (!at || at->result < 0 || operand >= at->operands.size()) return false;
  FuzzOperand by = at->operands[operand];
  if (by.kind != FuzzOperand::Kind::value) return false;
  ValueId result = at->result;
  replace_uses(kernel, result, by.value);
  return true;
}

bool replace_by_ones(FuzzKernel& kernel, size_t index) {
  At at = statement_at(kernel.body, index);
  if (!at || at->result < 0 || std::string_view(at->form->name) == "ones") return false;
  Statement ones;
  ones.form = find_form("ones");
  ones.result = at->result;
  ones.type = at->type;
  *at = ones;
  return true;
}

bool unwrap_loop(FuzzKernel& kernel, size_t index) {
  At at = statement_at(kernel.body, index);
  if (!at || at->body.empty() || index == 0) return false;
  std::vector<Statement> body = std::move(at->body), &block = *at.block;
  block.erase(block.begin() + static_cast<int64_t>(at.position));
  block.insert(block.begin() + static_cast<int64_t>(at.position), body.begin(), body.end());
  return true;
}

// A tile that is not moved, of a tensor that is as long as it was.
bool simplify_subscripts(FuzzKernel& kernel, size_t index) {
  At at = statement_at(kernel.body, index);
  if (!at) return false;
  bool changes = false;
  for (FuzzSubscript& subscript : at->subscripts) {
    if (subscript.kind != FuzzSubscript::Kind::tile) continue;
    changes |= subscript.shift != 0 || subscript.value >= 0;
    subscript.shift = 0;
    subscript.value = -1;
  }
  return changes;
}

// Outermost loops, but one.
bool erase_outermost(FuzzKernel& kernel, size_t index) {
  if (index >= kernel.body.size() || kernel.body.size() == 1) return false;
  kernel.body.erase(kernel.body.begin() + static_cast<int64_t>(index));
  return kernel.body.size() > 1 || !kernel.body[0].body.empty();
}

bool set_extent(FuzzKernel& kernel, size_t extent, int64_t size) {
  if (kernel.extents[extent] <= size || is_derived(kernel, static_cast<int>(extent))) return false;
  kernel.extents[extent] = size;
  update_extents(kernel);
  for_each_statement(kernel.body, [&](Statement& statement) { // constant subscripts stay within the tensor
    if (statement.tensor < 0) return;
    size_t dim = 0;
    for (FuzzSubscript& subscript : statement.subscripts) {
      if (subscript.kind == FuzzSubscript::Kind::none) continue;
      if (subscript.kind == FuzzSubscript::Kind::constant) {
        int64_t limit = kernel.extents[kernel.tensors[statement.tensor].extents[dim]];
        subscript.index = static_cast<int>(std::clamp<int64_t>(subscript.index, -limit, limit - 1));
      }
      ++dim;
    }
  });
  return true;
}

/// All changes to try on a kernel, those that take most away first.
std::vector<Change> changes_of(const FuzzKernel& kernel) {
  std::vector<Change> changes;
  size_t statements = count_statements(kernel);
  for (size_t i = kernel.body.size(); i-- > 0;) changes.push_back([i](FuzzKernel& k) { return erase_outermost(k, i); });
  for (size_t i = statements; i-- > 1;) changes.push_back([i](FuzzKernel& k) { return erase_statement(k, i); });
  for (size_t i = statements; i-- > 1;)
    for (size_t operand = 0; operand < 3; ++operand)
      changes.push_back([i, operand](FuzzKernel& k) { return bypass_statement(k, i, operand); });
  for (size_t i = statements; i-- > 1;) {
    changes.push_back([i](FuzzKernel& k) { return unwrap_loop(k, i); });
    changes.push_back([i](FuzzKernel& k) { return replace_by_ones(k, i); });
  }
  for (size_t i = statements; i-- > 0;) changes.push_back([i](FuzzKernel& k) { return simplify_subscripts(k, i); });
  for (size_t extent = 0; extent < kernel.extents.size(); ++extent) {
    int64_t size = kernel.extents[extent];
    for (int64_t smaller : {int64_t(1), int64_t(2), size / 2, size * 3 / 4, size - 1})
      changes.push_back([extent, smaller](FuzzKernel& k) { return smaller > 0 && set_extent(k, extent, smaller); });
  }
  for (size_t t = 0; t < kernel.tensors.size(); ++t) {
    auto plain = [t](auto member, auto value) {
      return [=](FuzzKernel& k) {
        bool changes = !(k.tensors[t].*member == value);
        k.tensors[t].*member = value;
        return changes;
      };
    };
    changes.push_back(plain(&FuzzTensor::layout, Layout::contiguous));
    changes.push_back(plain(&FuzzTensor::aligned, true));
    changes.push_back(plain(&FuzzTensor::contents, Contents::whole_numbers));
  }
  changes.push_back([](FuzzKernel& k) { return std::exchange(k.run_time_sizes, false); });
  changes.push_back([](FuzzKernel& k) { return std::exchange(k.seed, 1) != 1; });
  return changes;
}

/// Whether two failures are one: of the same stage, and where something is refused, with the same words.
bool is_alike(const CheckReport& a, const CheckReport& b) {
  if (a.stage != b.stage) return false;
  if (a.stage == "run" || a.stage == "memory" || a.stage == "program" || a.stage == "crash") return true;
  auto words = [](std::string text) {
    std::erase_if(text, [](char c) { return !std::isalpha(static_cast<unsigned char>(c)); });
    return text.substr(0, 40);
  };
  return words(a.message) == words(b.message);
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

class Shrinker {
public:
  Shrinker(FuzzCase failing, CheckReport report, const CaseRunner& run, int most_attempts)
      : best_{std::move(failing), std::move(report), 0}, run_(run), most_attempts_(most_attempts) {}

  ShrunkCase run() {
    try_kernel([](FuzzKernel&) { return true; }); // tidied alone
    for (bool smaller = true; smaller && best_.attempts < most_attempts_;) {
      smaller = false;
      std::vector<Change> changes = changes_of(best_.fuzz_case.kernel);
      for (size_t i = 0; i < changes.size(); ++i) {
        if (!try_kernel(changes[i])) continue;
        smaller = true; // the others are of the kernel as it was
        changes = changes_of(best_.fuzz_case.kernel);
        i = std::min(i, changes.size()) - 1;
      }
      smaller |= simplify_config();
    }
    return best_;
  }

private:
  bool try_case(FuzzCase candidate) {
    if (++best_.attempts > most_attempts_) return false;
    CheckReport report = run_(candidate);
    if (report.outcome != CheckReport::Outcome::failed || !is_alike(report, best_.report)) return false;
    best_.fuzz_case = std::move(candidate);
    best_.report = std::move(report);
    return true;
  }

  std::optional<ConfigSpec> spec_of(const FuzzKernel& kernel) const {
    try {
      RecordedCall call(kernel, inputs_of(kernel));
      return CallChecker(call.definition(), call.call()).specialisation().spec;
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }

  bool try_kernel(const Change& change) {
    FuzzCase candidate = best_.fuzz_case;
    if (!change(candidate.kernel)) return false;
    tidy(candidate.kernel);
    if (best_.report.stage == "record") return try_case(candidate);
    std::optional<ConfigSpec> spec = spec_of(candidate.kernel);
    if (!spec) return false;
    std::optional<Config> config = adapt_config(candidate.config, best_.fuzz_case.kernel, candidate.kernel, *spec);
    if (!config) return false;
    candidate.config = *config;
    return try_case(std::move(candidate));
  }

  bool simplify_config() {
    std::optional<ConfigSpec> spec = spec_of(best_.fuzz_case.kernel);
    if (!spec) return false;
    bool smaller = false;
    Config defaults = default_config(*spec);
    for (const ConfigOption& option : defaults.options()) {
      const ConfigValue* now = best_.fuzz_case.config.find(option.name);
      if (!now || *now == option.value || option.name == "block_sizes") continue;
      FuzzCase candidate = best_.fuzz_case;
      candidate.config.set(option.name, option.value);
      smaller |= try_case(std::move(candidate));
    }
    if (!best_.fuzz_case.config.has("block_sizes")) return smaller;
    std::vector<int64_t> blocks = best_.fuzz_case.config.get_ints("block_sizes");
    for (size_t i = 0; i < blocks.size(); ++i)
      for (int64_t block : {1, 2, 4, 8, 16}) {
        if (blocks[i] <= block) break;
        std::vector<int64_t> other = blocks;
        other[i] = block;
        FuzzCase candidate = best_.fuzz_case;
        candidate.config.set("block_sizes", other);
        if (!try_case(std::move(candidate))) continue;
        blocks = other;
        smaller = true;
        break;
      }
    return smaller;
  }

  ShrunkCase best_;
  const CaseRunner& run_;
  int most_attempts_;
};

} // namespace

ShrunkCase shrink(FuzzCase failing, CheckReport report, const CaseRunner& run, int most_attempts) {
  return Shrinker(std::move(failing), std::move(report), run, most_attempts).run();
}

} // namespace tilewright::fuzz
