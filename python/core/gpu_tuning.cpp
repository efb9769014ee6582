#include "python/core/gpu_tuning.h"

#include "python/core/errors.h"

#include "driver/triton_call.h"

namespace tilewright::python {
namespace {

struct GpuCandidate final : CompiledCandidate {
  explicit GpuCandidate(nb::object program) : program(std::move(program)) {}
  ~GpuCandidate() override {
    nb::gil_scoped_acquire lock;
    program.reset();
  }
  nb::object program; // a TritonProgram
};

// What Python raised, as what became of the candidate: gpu_tuning.WrongResult, or a failure of this kind.
CandidateFailure failure(nb::python_error& error, Outcome otherwise) {
  nb::object wrong = nb::module_::import_("tilewright.gpu_tuning").attr("WrongResult");
  std::string text = text_of(error.value());
  std::string kind = nb::cast<std::string>(nb::object(error.type().attr("__name__")));
  text = text.substr(0, text.find('\n'));
  return {error.matches(wrong) ? Outcome::wrong_result : otherwise, kind + ": " + text};
}

} // namespace

std::expected<std::shared_ptr<CompiledCandidate>, CandidateFailure> GpuRunner::compile(const CandidateJob& job) {
  std::string source = triton_source(job.tile_ir, job.config);
  nb::gil_scoped_acquire lock;
  try {
    return std::make_shared<GpuCandidate>(tuner_.attr("compile")(source));
  } catch (nb::python_error& error) {
    return std::unexpected(failure(error, Outcome::compile_failed));
  }
}

std::expected<Measurement, CandidateFailure> GpuRunner::measure(CompiledCandidate& candidate, double best) {
  nb::gil_scoped_acquire lock;
  try {
    nb::tuple found = nb::tuple(tuner_.attr("measure")(static_cast<GpuCandidate&>(candidate).program, best));
    return Measurement{nb::cast<double>(nb::object(found[0])), nb::cast<bool>(nb::object(found[1]))};
  } catch (nb::python_error& error) {
    return std::unexpected(failure(error, Outcome::run_failed));
  }
}

std::expected<double, CandidateFailure> GpuRunner::measure_again(CompiledCandidate& candidate) {
  nb::gil_scoped_acquire lock;
  try {
    return nb::cast<double>(tuner_.attr("measure_again")(static_cast<GpuCandidate&>(candidate).program));
  } catch (nb::python_error& error) {
    return std::unexpected(failure(error, Outcome::run_failed));
  }
}

} // namespace tilewright::python
