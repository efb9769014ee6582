// Over all small grids and groups, every program id has its own tile, and every tile its program.
#include "ir/context.h"
#include "schedule/expand_program_ids.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <gtest/gtest.h>
#include <set>

namespace tilewright {
namespace {

using Coordinates = std::vector<int64_t>;

/// Expands tile.map_program on numbers, which fold.
class ProgramIds {
public:
  ProgramIds() : context_(make_context()), builder_(context_.get()) {
    module_ = mlir::ModuleOp::create(builder_.getUnknownLoc());
  }

  Coordinates coordinates(const std::vector<int64_t>& counts, int64_t group, int64_t id) {
    module_->getBody()->clear();
    builder_.setInsertionPointToEnd(module_->getBody());
    auto location = builder_.getUnknownLoc();
    mlir::Value number = builder_.create<mlir::arith::ConstantIndexOp>(location, id);
    auto map = builder_.create<MapProgramOp>(location, number, mlir::getAsIndexOpFoldResult(context_.get(), counts));
    map.setGroup(group);
    Coordinates result;
    for (mlir::Value value : expand_program_id(builder_, map)) {
      std::optional<int64_t> coordinate = mlir::getConstantIntValue(value);
      EXPECT_TRUE(coordinate.has_value());
      result.push_back(coordinate.value_or(-1));
    }
    return result;
  }

  /// All coordinates in the order of the ids.
  std::vector<Coordinates> walk(const std::vector<int64_t>& counts, int64_t group) {
    int64_t programs = 1;
    for (int64_t count : counts) programs *= count;
    std::vector<Coordinates> order;
    for (int64_t id = 0; id < programs; ++id) order.push_back(coordinates(counts, group, id));
    return order;
  }

private:
  std::unique_ptr<mlir::MLIRContext> context_;
  mlir::OpBuilder builder_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

void expect_bijection(ProgramIds& ids, const std::vector<int64_t>& counts, int64_t group) {
  std::vector<Coordinates> order = ids.walk(counts, group);
  std::set<Coordinates> seen(order.begin(), order.end());
  EXPECT_EQ(seen.size(), order.size()) << "of " << testing::PrintToString(counts) << " in groups of " << group;
  for (const Coordinates& at : order)
    for (size_t dim = 0; dim < counts.size(); ++dim) {
      EXPECT_GE(at[dim], 0);
      EXPECT_LT(at[dim], counts[dim]);
    }
}

TEST(ExpandProgramIds, is_a_bijection_over_two_dimensions) {
  ProgramIds ids;
  for (int64_t rows = 1; rows <= 7; ++rows)
    for (int64_t columns = 1; columns <= 5; ++columns)
      for (int64_t group = 1; group <= 9; ++group) expect_bijection(ids, {rows, columns}, group);
}

TEST(ExpandProgramIds, is_a_bijection_over_one_and_three_dimensions) {
  ProgramIds ids;
  for (int64_t count = 1; count <= 5; ++count) expect_bijection(ids, {count}, 1);
  for (int64_t planes = 1; planes <= 3; ++planes)
    for (int64_t rows = 1; rows <= 5; ++rows)
      for (int64_t columns = 1; columns <= 3; ++columns)
        for (int64_t group = 1; group <= 4; ++group) expect_bijection(ids, {planes, rows, columns}, group);
}

TEST(ExpandProgramIds, walks_a_group_of_rows_before_the_next_column) {
  EXPECT_EQ(ProgramIds().walk({3, 2}, 2), (std::vector<Coordinates>{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {2, 1}}));
  EXPECT_EQ(ProgramIds().walk({3, 2}, 1), (std::vector<Coordinates>{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}}));
  EXPECT_EQ(ProgramIds().walk({3, 2}, 8), (std::vector<Coordinates>{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}}));
}

} // namespace
} // namespace tilewright
