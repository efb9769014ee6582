#include "python/core/gpu_launch.h"

#include "python/core/bindings.h"
#include "python/core/call_arguments.h"

#include "support/error.h"

#include <cstring>
#include <nanobind/stl/vector.h>

namespace tilewright::python {

// Triton 3.5 and later hide two: global scratch and profile scratch. Where the driver can say how many there are, it is
// asked.
static constexpr size_t kHiddenParameters = 2;
static constexpr size_t kMostHidden = 8;
static constexpr size_t kMostTensorMaps = 8;

static size_t hidden_parameters(const GpuLaunch& launch) {
  const CudaDriver& driver = CudaDriver::get();
  if (!driver.knows_parameters()) return kHiddenParameters;
  size_t count = 0, bytes = 0, known = launch.arguments.size();
  while (driver.parameter_size(launch.function, count, &bytes)) {
    const size_t expected = count < known ? launch.arguments[count].size() : sizeof(void*);
    if (bytes != expected)
      fail("parameter {} of a compiled kernel has {} bytes, where {} are passed", count, bytes, expected);
    ++count;
  }
  if (count < known || count > known + kMostHidden)
    fail("a compiled kernel has {} parameters, where {} arguments were passed", count, known);
  return count - known;
}

void GpuPlan::add(GpuLaunch launch) {
  launch.hidden_parameters = hidden_parameters(launch);
  if (launch.scratch_bytes > 0 && launch.hidden_parameters == 0) fail("a compiled kernel has no place for its scratch");
  size_t maps = 0;
  for (const GpuParameter& parameter : launch.arguments) {
    if (parameter.kind != GpuParameter::Kind::tensor_map) continue;
    if (parameter.bytes.size() != sizeof(CudaDriver::TensorMap))
      fail("a tensor map has {} bytes, found {}", sizeof(CudaDriver::TensorMap), parameter.bytes.size());
    if (!CudaDriver::get().knows_tensor_maps()) fail("this driver has no cuTensorMapReplaceAddress");
    if (++maps > kMostTensorMaps) fail("a compiled kernel has more than {} tensor maps", kMostTensorMaps);
  }
  launches.push_back(std::move(launch));
}

void GpuPlan::run(void* const* pointers, void* const* scratch, CudaDriver::Stream stream) const {
  const CudaDriver& driver = CudaDriver::get();
  for (const GpuLaunch& launch : launches) {
    // The driver copies from these addresses before it returns.
    void* hidden[kMostHidden] = {};
    CudaDriver::TensorMap maps[kMostTensorMaps];
    if (launch.scratch_bytes > 0) hidden[0] = *scratch++;
    FewOf<const void*> parameters(launch.arguments.size() + launch.hidden_parameters);
    size_t next = 0, next_map = 0;
    for (const GpuParameter& parameter : launch.arguments) {
      switch (parameter.kind) {
      case GpuParameter::Kind::pointer: parameters[next++] = &pointers[parameter.array]; break;
      case GpuParameter::Kind::value: parameters[next++] = parameter.bytes.data(); break;
      case GpuParameter::Kind::tensor_map: {
        CudaDriver::TensorMap& map = maps[next_map++];
        std::memcpy(&map, parameter.bytes.data(), sizeof(map));
        driver.replace_address(map, pointers[parameter.array]);
        parameters[next++] = &map;
        break;
      }
      }
    }
    for (size_t i = 0; i < launch.hidden_parameters; ++i) parameters[next++] = &hidden[i];
    driver.launch(launch.function, launch.grid, launch.threads, launch.shared_bytes, stream,
                  const_cast<void**>(parameters.data()));
  }
}

// A number: that array's pointer. Bytes: that value. Both: a tensor map of that array.
static GpuParameter parameter_of(nb::handle given) {
  auto bytes_of = [](nb::handle object) {
    nb::bytes bytes = nb::cast<nb::bytes>(object);
    const auto* begin = reinterpret_cast<const uint8_t*>(bytes.c_str());
    return std::vector<uint8_t>(begin, begin + bytes.size());
  };
  if (PyLong_Check(given.ptr())) return {GpuParameter::Kind::pointer, nb::cast<uint32_t>(given), {}};
  if (PyBytes_Check(given.ptr())) return {GpuParameter::Kind::value, 0, bytes_of(given)};
  nb::tuple both = nb::cast<nb::tuple>(given);
  return {GpuParameter::Kind::tensor_map, nb::cast<uint32_t>(nb::object(both[0])), bytes_of(nb::object(both[1]))};
}

void bind_gpu(nb::module_& module) {
  nb::class_<GpuPlan>(module, "GpuPlan")
      .def(
          "__init__",
          [](GpuPlan* self, int device, nb::object keeps) {
            CudaDriver::get();
            new (self) GpuPlan{{}, device, std::move(keeps)};
          },
          nb::arg("device"), nb::arg("keeps").none())
      .def(
          "add",
          [](GpuPlan& self, uint64_t function, std::vector<uint32_t> grid, uint32_t threads, uint32_t shared_bytes,
             const nb::list& arguments, size_t scratch_bytes) {
            if (grid.size() != 3) fail("a grid has 3 sizes, found {}", grid.size());
            std::vector<GpuParameter> parameters;
            for (nb::handle each : arguments) parameters.push_back(parameter_of(each));
            self.add({reinterpret_cast<void*>(function),
                      {grid[0], grid[1], grid[2]},
                      threads,
                      shared_bytes,
                      std::move(parameters),
                      0,
                      scratch_bytes});
          },
          nb::arg("function"), nb::arg("grid"), nb::arg("threads"), nb::arg("shared_bytes"), nb::arg("arguments"),
          nb::arg("scratch_bytes") = 0)
      .def(
          "run",
          [](const GpuPlan& self, const std::vector<uint64_t>& pointers, uint64_t stream,
             const std::vector<uint64_t>& scratch) {
            auto addresses = [](const std::vector<uint64_t>& numbers) {
              std::vector<void*> list;
              for (uint64_t number : numbers) list.push_back(reinterpret_cast<void*>(number));
              return list;
            };
            self.run(addresses(pointers).data(), addresses(scratch).data(), reinterpret_cast<void*>(stream));
          },
          nb::arg("pointers"), nb::arg("stream") = 0, nb::arg("scratch") = std::vector<uint64_t>());
}

} // namespace tilewright::python
