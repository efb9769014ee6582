// Bugs that can be planted, one at a time, to see that the fuzzer finds them (docs/fuzzing.md). In every normal build
// planted() is false while compiling, and none of this leaves a trace. `tilewright-fuzz-planted` compiles the few files
// that ask for it with TILEWRIGHT_PLANTED_BUGS, into itself.
#pragma once

#include <cstdint>

namespace tilewright {

// Each is planted in one place; X(name).
#define TILEWRIGHT_FOR_EACH_PLANTED_BUG(X)                                                                             \
  X(skipped_last_tile)       /* map_programs: a persistent launch leaves out its last tile */                          \
  X(wrong_group_of_rows)     /* expand_program_ids: the last, smaller group of rows is taken for a whole one */        \
  X(lost_remainder)          /* unroll_loops: iterations that are left after the unrolled ones do not run */           \
  X(lost_carry)              /* unroll_loops: a repeated body starts from the loop's values, not the last body's */    \
  X(bound_off_by_one)        /* prove_bounds: a tile that has a lane less than its block counts as whole */            \
  X(ragged_end_proven)       /* prove_bounds: a loop whose steps pass its end counts as exact */                       \
  X(wrong_neutral_element)   /* roll_reductions: whatever is rolled starts from 0 */                                   \
  X(rolled_dimension_short)  /* roll_reductions: the rolled loop ends one element early */                             \
  X(swapped_loop_order)      /* order_loops: upper bounds are not permuted with the rest */                            \
  X(missing_tail_mask)       /* lower_reduce: lanes past the end take part in a reduction's tail */                    \
  X(dropped_accumulator)     /* lower_reduce: one of the partial sums is left out */                                   \
  X(nan_lost_in_maximum)     /* lower_reduce: a maximum ignores NaN */                                                 \
  X(wrong_transposition)     /* lower_dot: packing interleaves low and high halves the wrong way round */              \
  X(accumulator_not_read)    /* lower_dot: a product starts from zero, whatever it adds to */                          \
  X(row_past_the_end)        /* lower_dot: rows past the end are read */                                               \
  X(swapped_stride)          /* buffers: lanes apart are one stride too far apart */                                   \
  X(missing_store_mask)      /* buffers: a tail writes whole vectors */                                                \
  X(overwritten_before_read) /* storage_plan: a load is read where a store has already gone */                         \
  X(truncated_bfloat16)      /* emit_cast: bfloat16 is cut off instead of rounded */                                   \
  X(unsigned_remainder)      /* emit_arith: remainders of negative numbers are those of unsigned ones */               \
  X(tail_one_lane_short)     /* nest: the last lane of a tail is left out */

enum class PlantedBug : uint8_t {
  none,
#define TILEWRIGHT_PLANTED_BUG_NAME(name) name,
  TILEWRIGHT_FOR_EACH_PLANTED_BUG(TILEWRIGHT_PLANTED_BUG_NAME)
#undef TILEWRIGHT_PLANTED_BUG_NAME
};

#ifdef TILEWRIGHT_PLANTED_BUGS
extern PlantedBug planted_bug; // which one; the fuzzer's --plant sets it
inline bool planted(PlantedBug bug) { return planted_bug == bug; }
#else
constexpr bool planted(PlantedBug) { return false; }
#endif

} // namespace tilewright
