// NVIDIA GPUs as back ends: programs become CUDA C++, which NVRTC compiles while the program runs. Driver and
// NVRTC are looked for when the first back end is made; without them everything else works.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/calibration.h"
#include "core/object_cache/object_cache.h"
#include "core/runtime/backend.h"

namespace twinloom::cuda {

struct CudaOptions {
  int device = 0;  // as the driver counts visible GPUs
  // Where machine code is kept for other processes; null: nowhere, each kernel is compiled.
  std::shared_ptr<const object_cache::ObjectCache> cache = nullptr;
  machine::Calibrations calibrations = {};  // null: the machine is what the driver tells
};

// Error where there is no such GPU, no driver or no NVRTC, with the places that were searched.
std::unique_ptr<runtime::Backend> make_cuda(const CudaOptions& options = {});

// Has a stored machine, an H200's, and needs no GPU, driver or NVRTC: kernels have their schedules and their
// source, and running one is an Error.
std::unique_ptr<runtime::Backend> make_planner();

// The architecture whose machine is known where no such GPU is.
inline constexpr const char* HOPPER = "sm_90a";

// Error where `exported` ("packages") cannot be made for this architecture.
void check_architecture(const std::string& architecture, std::string_view exported);

// Compiles for other processes: what it builds has Built::code and no kernel. Needs NVRTC and no GPU. Error
// where the architecture is another than HOPPER.
std::shared_ptr<const runtime::Backend> make_exporter(const std::string& architecture);

// Runs what an exporter compiled and compiles nothing: it needs no NVRTC. Error where there is no such GPU or
// no driver.
std::unique_ptr<runtime::Backend> make_loader(int device = 0);

// Every GPU that can be used, as the driver counts them, and a line for each that cannot, or for what is
// missing and where it was looked for.
struct Found {
  std::vector<std::shared_ptr<const runtime::Backend>> usable;
  std::vector<std::string> missing;
};
Found found_devices(const std::function<std::shared_ptr<const runtime::Backend>(int number)>& make);
// With make_cuda.
Found find_devices(const std::shared_ptr<const object_cache::ObjectCache>& cache = nullptr,
                   const machine::Calibrations& calibrations = {});

}  // namespace twinloom::cuda
