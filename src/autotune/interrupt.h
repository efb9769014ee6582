// Ctrl-C while tuning: the first one ends the search, which keeps the best so far; the second one kills as ever.
#pragma once

namespace tilewright {

/// While one of these lives, in any thread, SIGINT is caught. What the process did with SIGINT before is restored by
/// the last one's end; a process that ignores SIGINT goes on ignoring it.
class InterruptScope {
public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  /// Whether SIGINT came since the first of the scopes that live now began.
  bool requested() const;
};

} // namespace tilewright
