#include "ir/context.h"

#include "ir/ir_text.h"
#include "support/error_of.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace tilewright {
namespace {

TEST(ParseModule, names_the_line_of_what_is_illegal) {
  auto parse = [] { IrText("\n\ntile.kernel @empty() {\n  tile.return\n}\n"); };
  EXPECT_EQ(error_of(parse), "'tile.kernel' op has no tile loop");
  EXPECT_EQ(error_line_of(parse), 3u);
}

TEST(ParseModule, names_the_line_of_what_cannot_be_read) {
  auto parse = [] { IrText("\n#dim = #tile.dim<q7>\n"); };
  EXPECT_EQ(error_of(parse), "'q7' is no dimension symbol; expected b, r or s and a number, such as b0");
  EXPECT_EQ(error_line_of(parse), 2u);
}

TEST(CheckDiagnostics, reports_the_first_error_with_its_notes) {
  auto context = make_context();
  Location line = FileLineColLoc::get(context.get(), "kernel.cpp", 12, 3);
  auto action = [&] {
    check_diagnostics(context.get(), [&]() -> LogicalResult {
      emitWarning(line) << "not this";
      emitError(line) << "first"; // reported as it goes out of scope
      emitError(UnknownLoc::get(context.get())) << "second";
      return failure();
    });
  };
  EXPECT_EQ(error_of(action), "first");
  EXPECT_EQ(error_line_of(action), 12u);
  auto with_note = [&] {
    check_diagnostics(context.get(), [&]() -> LogicalResult {
      InFlightDiagnostic error = emitError(line) << "this";
      error.attachNote(line) << "because of that";
      return error;
    });
  };
  EXPECT_EQ(error_of(with_note), "this; because of that");
}

TEST(CheckDiagnostics, never_fails_in_silence_and_never_without_failure) {
  auto context = make_context();
  EXPECT_EQ(error_of([&] { check_diagnostics(context.get(), [] { return failure(); }); }),
            "the compiler failed without saying why");
  EXPECT_NO_THROW(check_diagnostics(context.get(), [&] {
    emitError(UnknownLoc::get(context.get())) << "of no consequence";
    return success();
  }));
}

TEST(SourceLocation, is_found_inside_other_locations) {
  auto context = make_context();
  Location line = FileLineColLoc::get(context.get(), "kernel.cpp", 12, 3);
  Location named = NameLoc::get(StringAttr::get(context.get(), "x + y"), line);
  Location fused = FusedLoc::get(context.get(), {UnknownLoc::get(context.get()), named});
  for (Location location : {line, named, fused}) {
    SourceLocation found = source_location(location);
    EXPECT_STREQ(found.file, "kernel.cpp");
    EXPECT_EQ(found.line, 12u);
    EXPECT_EQ(found.column, 3u);
  }
  EXPECT_FALSE(source_location(UnknownLoc::get(context.get())).known());
}

TEST(SourceLocation, outlives_the_context) {
  SourceLocation found;
  {
    auto context = make_context();
    found = source_location(FileLineColLoc::get(context.get(), "short_lived.cpp", 1, 1));
  }
  EXPECT_STREQ(found.file, "short_lived.cpp");
}

TEST(ToText, is_read_back_with_its_locations) {
  IrText ir("\n\n\ntile.program @nothing() attributes {programs = 1 : i64} {\n  tile.return\n}\n");
  EXPECT_EQ(to_text(ir.module()).find("loc("), std::string::npos);
  IrText again(to_text(ir.module(), /*locations=*/true));
  EXPECT_EQ(source_location(again.program().getLoc()).line, 4u);
  EXPECT_EQ(to_text(again.module()), to_text(ir.module()));
}

} // namespace
} // namespace tilewright
