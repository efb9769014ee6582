// IR as text for people: the user's own source lines stand as comments above what was made of them.
#pragma once

#include "mlir/IR/Operation.h"

#include <string>

namespace tilewright {

std::string with_source_comments(mlir::Operation* op);

// For the texts of backends/cpu/jit.h: puts the source line itself behind each comment `; file:line` or `# file:line`.
std::string with_source_text(const std::string& code);

} // namespace tilewright
