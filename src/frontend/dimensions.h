// The dimensions of a kernel while it is recorded: what each symbol of ir/dim.h stands for.
#pragma once

#include "ir/dim.h"
#include "ir/guard.h"
#include "tilewright/error.h"

#include <optional>
#include <string>
#include <vector>

namespace tilewright {

class Dimensions {
public:
  /// A new size of an argument, s0, s1, ... in order of calls. A size of 1 is the constant 1: what broadcasts is part
  /// of the kernel's identity.
  Dim add_size(int64_t value);

  /// A new block id, b0, b1, ...: dimension `position` of the `count` of the tile loop at `loop`.
  Dim add_block(const SourceLocation& loop, int position, int count);

  /// The whole dimension of a given length, r0, r1, ...: equal lengths are one dimension. A length of 1 is the constant
  /// 1.
  Dim whole(const Dim& length);

  /// The number that sizes and whole dimensions stand for; none where block sizes are involved. It holds for the call
  /// that is recorded: where the record depends on it, ask one of the questions below.
  std::optional<int64_t> value(const Dim& dim) const;

  //
  // Questions whose answers the record depends on: each is a guard, unless it has the same answer for all sizes.
  //

  /// What comes of a comparison of numbers, or of an operation on them. Neither has block sizes in it.
  bool holds(Guard::Kind comparison, const Dim& left, const Dim& right);
  int64_t result(Guard::Kind operation, const Dim& left, const Dim& right);
  /// The number that a dimension stands for, as a constant from here on.
  int64_t settled(const Dim& dim);
  llvm::ArrayRef<Guard> guards() const { return guards_; }

  /// The same, with whole dimensions as what they are defined as: over sizes and block sizes.
  Dim in_sizes(const Dim& dim) const;

  /// The dimensions that r0, r1, ... are defined as. Of all lengths that one is the same as, the least, so that it
  /// depends on no order.
  llvm::ArrayRef<Dim> whole_definitions() const { return whole_; }

  /// For people: "tile 0 of line 12" for a block, else the number.
  std::string describe(const Dim& dim) const;
  /// "[tile of line 12, 64]"
  std::string describe(llvm::ArrayRef<Dim> dims) const;

private:
  struct Block {
    SourceLocation loop;
    int position;
    int count;
  };
  std::vector<int64_t> sizes_;
  std::vector<Block> blocks_;
  llvm::SmallVector<Dim> whole_;
  std::vector<Guard> guards_;
};

} // namespace tilewright
