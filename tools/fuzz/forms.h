// The forms of the language: what a statement can be. Each is one entry of a table: how to generate it, how to record
// it through the DSL, and how to print it as DSL source. To fuzz something new, add an entry to one of the tables.
#pragma once

#include "fuzz/fuzz_kernel.h"

#include <string_view>
#include <vector>

namespace tilewright::fuzz {

class Generator;
class Printer;
class Recorder;

struct Form {
  /// As it is counted. That of a function of tilewright/operations.inc is the function's.
  const char* name;
  double weight; // how often it is tried, relative to others; 0: only as a part of others
  /// Adds such a statement, and what it needs, to the kernel. False where nothing fits it there.
  bool (*generate)(Generator& generator, const Form& form);
  void (*record)(Recorder& recorder, const Statement& statement);
  void (*print)(Printer& printer, const Statement& statement);
  unsigned traits = 0;

  bool has(unsigned trait) const { return (traits & trait) != 0; }
};

enum FormTrait : unsigned {
  /// A lane of its result depends on other lanes of its operands, though the shape is the same: softmax, scans.
  kMixesLanes = 1,
  /// It does something beside making its result.
  kHasEffect = 2,
  /// It can work on a part of a whole dimension at a time, so that a config may roll the dimension.
  kByBlocks = 4,
  /// It takes dimensions of its operand away.
  kReduces = 8,
  /// It only moves, chooses and converts numbers: its results are right to the bit, whatever the numbers are.
  kChooses = 16,
};

/// All of them.
const std::vector<const Form*>& forms();
/// Null where there is none.
const Form* find_form(std::string_view name);

// The tables, a file each.
const std::vector<Form>& memory_forms();
const std::vector<Form>& pointwise_forms();
const std::vector<Form>& reduction_forms();
const std::vector<Form>& matrix_forms();
const std::vector<Form>& combiner_forms();
const std::vector<Form>& atomic_forms();
const std::vector<Form>& shape_forms();
const std::vector<Form>& joining_forms();
const std::vector<Form>& sorting_forms();
const std::vector<Form>& creation_forms();
const std::vector<Form>& loop_forms();
const std::vector<Form>& control_forms();

} // namespace tilewright::fuzz
