#include "python/core/gpu_tuning.h"

#include "autotune/worker_runner.h"
#include "driver/gpu_target.h"
#include "driver/triton_call.h"
#include "support/files.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace tilewright::python {

namespace nb = nanobind;

void make_for(DeviceIndex device) {
  static int made_for = -1;
  if (device.kind != DeviceIndex::kCuda || device.index == made_for) return;
  nb::object found = nb::module_::import_("tilewright.gpu_tuning").attr("gpu_of")(Torch::get().device(device));
  triton::GpuTarget target;
  target.name = nb::cast<std::string>(nb::object(found["name"]));
  target.compute_capability = nb::cast<int>(nb::object(found["capability"]));
  target.multiprocessors = nb::cast<int64_t>(nb::object(found["multiprocessors"]));
  target.shared_memory_bytes = nb::cast<int64_t>(nb::object(found["shared_bytes"]));
  set_gpu_target(target);
  made_for = device.index;
}

bool can_tune_now(DeviceIndex device) {
  if (device.kind != DeviceIndex::kCuda) return false;
  nb::object cuda = nb::module_::import_("torch").attr("cuda");
  return !nb::cast<bool>(nb::object(cuda.attr("is_current_stream_capturing")()));
}

static WorkerProcess::Options process_options(const nb::object& workers, const char* command, const char* environment) {
  WorkerProcess::Options options;
  options.command = nb::cast<std::vector<std::string>>(nb::object(workers.attr(command)));
  options.environment = nb::cast<std::vector<std::string>>(nb::object(workers.attr(environment)));
  options.files = {nb::cast<int>(nb::object(workers.attr("file")))};
  return options;
}

static WorkerRunner::Options runner_options(const nb::object& workers) {
  WorkerRunner::Options options;
  options.compiler = process_options(workers, "compiler", "compiler_environment");
  options.compiler.memory_bytes = nb::cast<uint64_t>(nb::object(workers.attr("compiler_bytes")));
  options.measurer = process_options(workers, "measurer", "environment");
  options.compilers = nb::cast<unsigned>(nb::object(workers.attr("compilers")));
  options.write_job = [](const CandidateJob& job, const std::filesystem::path& folder) {
    write_file_atomically(folder / "kernel.py", triton_source(job.tile_ir, job.config));
  };
  return options;
}

TuningResult tune_on_gpu(const Specialisation& specialisation, const nb::list& arguments, const TuneRequest& request) {
  nb::list written;
  for (size_t i = 0; i < specialisation.parameters.size(); ++i)
    if (specialisation.parameters[i].is_written) written.append(i);
  nb::object workers =
      nb::module_::import_("tilewright.gpu_tuning").attr("Workers")(specialisation.kernel, arguments, written);
  struct Close {
    nb::object& workers;
    ~Close() { workers.attr("close")(); }
  } close{workers};
  WorkerRunner::Options options = runner_options(workers);
  nb::gil_scoped_release release;
  options.baseline = request.job_for(default_config(specialisation.spec)).config;
  WorkerRunner runner(std::move(options));
  TuningResult result = tune_candidates(specialisation, runner, request);
  result.compiled.reset(); // Triton keeps what it compiled on disk
  return result;
}

} // namespace tilewright::python
