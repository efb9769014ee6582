#include "ir/interpreter_scan.h"

#include "ir/context.h"
#include "ir/interpreter_shape.h"
#include "support/error.h"

using namespace mlir;

namespace tilewright {

using Lanes = SmallVector<Lane, 2>; // one of each source

// What the combiner makes of two lanes of every source.
static Lanes apply(Block& combiner, ArrayRef<Lane> left, ArrayRef<Lane> right, Environment& environment) {
  Lanes operands(left);
  llvm::append_range(operands, right);
  for (auto [argument, lane] : llvm::zip_equal(combiner.getArguments(), operands))
    environment.set(argument, BlockValue::scalar(argument.getType(), lane));
  for (Operation& op : combiner.without_terminator())
    environment.set_result(&op, evaluate_lanewise(&op, environment, {}));
  Lanes results;
  for (Value value : combiner.getTerminator()->getOperands()) results.push_back(environment.block(value).lanes[0]);
  return results;
}

namespace {

/// The sources of an op, held here because the environment's own entries move while a combiner runs.
class Sources {
public:
  Sources(ValueRange values, const Environment& environment) {
    for (Value value : values) blocks_.push_back(environment.block(value));
  }

  ArrayRef<int64_t> shape() const { return blocks_.front().shape; }

  std::vector<BlockValue> missing_results(ArrayRef<int64_t> shape) const {
    std::vector<BlockValue> results;
    for (const BlockValue& block : blocks_) {
      results.emplace_back(block.element, shape);
      std::fill(results.back().lanes.begin(), results.back().lanes.end(), Lane::missing());
    }
    return results;
  }

  Lanes at(ArrayRef<int64_t> index) const {
    Lanes lanes;
    for (const BlockValue& block : blocks_) lanes.push_back(block.at(index));
    return lanes;
  }

  bool exists(ArrayRef<int64_t> index) const {
    return llvm::all_of(blocks_, [&](const BlockValue& block) { return block.at(index).state != LaneState::Missing; });
  }

private:
  std::vector<BlockValue> blocks_;
};

} // namespace

// Walks the lanes along `dim` of one line of the sources, from the first to the last or the other way. A line of which
// all lanes are missing is passed over, as rows past a tile's end are, and one where some are, as a select may make of
// such rows; of the first line that is an error.
static void walk_line(Operation* op, const Sources& sources, SmallVector<int64_t> index, int64_t dim, int64_t count,
                      bool reverse, llvm::function_ref<void(ArrayRef<int64_t>, ArrayRef<Lane>)> visit) {
  int64_t existing = 0;
  for (index[dim] = 0; index[dim] < count; ++index[dim]) existing += sources.exists(index);
  index[dim] = 0;
  bool is_first = llvm::all_of(index, [](int64_t i) { return i == 0; }); // it exists wherever any does
  if (existing == 0 || (existing < count && !is_first)) return;
  if (existing < count)
    fail(source_location(op->getLoc()), "{} reads lanes that do not exist: {} of {} along dimension {}", op_name(op),
         count - existing, count, dim);
  for (int64_t i = 0; i < count; ++i) {
    index[dim] = reverse ? count - 1 - i : i;
    visit(index, sources.at(index));
  }
}

std::vector<BlockValue> combine(CombineOp op, Environment& environment, int64_t count) {
  const Sources sources(op.getSources(), environment);
  int64_t dim = op.getDim();
  SmallVector<int64_t> shape(sources.shape());
  shape.erase(shape.begin() + dim);
  std::vector<BlockValue> results = sources.missing_results(shape);
  for_each_index(shape, [&](ArrayRef<int64_t> kept) {
    SmallVector<int64_t> index(kept);
    index.insert(index.begin() + dim, 0);
    Lanes total;
    walk_line(op, sources, index, dim, count, /*reverse=*/false, [&](ArrayRef<int64_t>, ArrayRef<Lane> lanes) {
      total = total.empty() ? Lanes(lanes) : apply(op.block(), total, lanes, environment);
    });
    if (count == 0)
      for (Value other : op.getOther()) total.push_back(environment.block(other).lanes[0]);
    for (auto [i, lane] : llvm::enumerate(total)) results[i].at(kept) = lane;
  });
  return results;
}

std::vector<BlockValue> scan(ScanOp op, Environment& environment, int64_t count) {
  const Sources sources(op.getSources(), environment);
  SmallVector<int64_t> lines(sources.shape());
  lines[op.getDim()] = 1;
  std::vector<BlockValue> results = sources.missing_results(sources.shape());
  for_each_index(lines, [&](ArrayRef<int64_t> line) {
    Lanes total;
    walk_line(op, sources, SmallVector<int64_t>(line), op.getDim(), count, op.getReverse(),
              [&](ArrayRef<int64_t> index, ArrayRef<Lane> lanes) {
                total = total.empty() ? Lanes(lanes) : apply(op.block(), total, lanes, environment);
                for (auto [i, lane] : llvm::enumerate(total)) results[i].at(index) = lane;
              });
  });
  return results;
}

} // namespace tilewright
