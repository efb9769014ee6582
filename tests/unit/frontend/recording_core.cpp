// Kernels in these tests are recorded, never run: their core only knows what they are.
#include "tilewright/kernel.h"

#include <gtest/gtest.h>

namespace tilewright::detail {

namespace {

class RecordingCore : public KernelCore {
public:
  explicit RecordingCore(KernelDefinition definition) : definition_(std::move(definition)) {}
  const KernelDefinition& definition() const override { return definition_; }
  void run(const Call&, Array*) override { ADD_FAILURE() << "a kernel of these tests is run"; }
  size_t specialisation_count() const override { return 0; }

private:
  KernelDefinition definition_;
};

} // namespace

std::shared_ptr<KernelCore> make_kernel_core(KernelDefinition definition) {
  return std::make_shared<RecordingCore>(std::move(definition));
}

} // namespace tilewright::detail
