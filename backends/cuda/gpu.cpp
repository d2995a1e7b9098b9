// See gpu.h.
#include "backends/cuda/gpu.h"

#include <array>
#include <cstdint>
#include <limits>

#include "core/base/text.h"
#include "core/machine/gpu.h"

namespace twinloom::cuda {

namespace {

constexpr int HOPPER = 9;  // compute capability

CUdeviceptr address_of(const void* data) { return reinterpret_cast<CUdeviceptr>(data); }

std::size_t size_of(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }

}  // namespace

int Gpu::count() {
  const Driver& driver = Driver::get();
  int count = 0;
  driver.check(driver.cuDeviceGetCount(&count), "the NVIDIA driver counts no GPUs");
  return count;
}

Gpu::Gpu(int number) : driver_(Driver::get()), number_(number) {
  const int known = count();
  if (number < 0 || number >= known)
    throw Error(cat("there is no device cuda:", number, "; visible GPUs: ", known));
  const std::string what = cat("cuda:", number);
  driver_.check(driver_.cuDeviceGet(&device_, number), what);
  std::array<char, 256> name{};
  driver_.check(driver_.cuDeviceGetName(name.data(), static_cast<int>(name.size()), device_), what);
  name_ = name.data();
  overlaps_kernels_ = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= HOPPER;
  machine_ = ask_for_machine();
  driver_.check(driver_.cuDevicePrimaryCtxRetain(&context_, device_), cat(what, " has no context"));
  const Scope scope(*this);
  driver_.check(driver_.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), cat(what, " has no stream"));
  make_pool();
}

// What is given back to it stays for the next taker, until trim().
void Gpu::make_pool() {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, number_};
  check(driver_.cuMemPoolCreate(&pool_, &properties), "the memory pool");
  cuuint64_t everything = std::numeric_limits<cuuint64_t>::max();
  check(driver_.cuMemPoolSetAttribute(pool_, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &everything),
        "the memory pool");
}

int Gpu::attribute(CUdevice_attribute which) const {
  int value = 0;
  driver_.check(driver_.cuDeviceGetAttribute(&value, which, device_), cat("cuda:", number_));
  return value;
}

// Hopper and later have instructions that only their own architecture may use.
std::string Gpu::architecture() const {
  const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  const int minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  return cat("sm_", major, minor, major >= HOPPER ? "a" : "");
}

bool Gpu::is_captured(CUstream stream) const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = driver_.cuStreamIsCapturing(stream, &status);
  return result != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

machine::Machine Gpu::ask_for_machine() const {
  constexpr int CLUSTER_BLOCKS = 8;             // as many as each may have
  constexpr double KILOHERTZ = 1e3, EDGES = 2;  // of a clock, at each of which memory sends
  const double memory_clock = KILOHERTZ * attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  return machine::gpu(
      {.name = cat("cuda-", architecture()),
       .model = name(),
       .multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
       .threads_each = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
       .block_threads = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
       .cluster_blocks =
           attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= HOPPER ? CLUSTER_BLOCKS : 1,
       .warp_threads = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
       .block_scratch_bytes = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
       .scratch_bytes_each = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
       .l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
       .memory_bytes_per_second =
           EDGES * memory_clock * attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8,
       .clock_hertz = KILOHERTZ * attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE)});
}

runtime::Block Gpu::allocate(std::int64_t bytes, runtime::Stream stream) const {
  const Scope scope(*this);
  CUdeviceptr data = 0;
  const CUresult result = driver_.cuMemAllocFromPoolAsync(&data, size_of(bytes), pool_, stream_of(stream));
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return {nullptr, {}};
  check(result, "memory");
  return {reinterpret_cast<std::byte*>(data),
          [this, stream](void* block) { free(address_of(block), stream); }};
}

// A stream of the caller may have ended: only waiting for the whole GPU is known to wait for it.
void Gpu::free(CUdeviceptr memory, runtime::Stream stream) const noexcept {
  release([&](const Driver& driver) {
    if (stream != nullptr) driver.cuCtxSynchronize();
    driver.cuMemFreeAsync(memory, stream_);
  });
}

void Gpu::trim() const {
  const Scope scope(*this);
  wait();
  check(driver_.cuMemPoolTrimTo(pool_, 0), "the memory pool");
}

std::int64_t Gpu::free_bytes() const {
  const Scope scope(*this);
  std::size_t free = 0, all = 0;
  check(driver_.cuMemGetInfo(&free, &all), "the memory");
  return static_cast<std::int64_t>(free);
}

void Gpu::order(runtime::Stream first, runtime::Stream then) const {
  const CudaEvent event(*this, stream_of(first), events_);
  const Scope scope(*this);
  check(driver_.cuStreamWaitEvent(stream_of(then), event.event(), 0), "a stream");
}

void Gpu::upload(void* to, const void* from, std::int64_t bytes) const {
  const Scope scope(*this);
  staging_.upload(address_of(to), static_cast<const std::byte*>(from), bytes, stream_);
}

void Gpu::download(void* to, const void* from, std::int64_t bytes) const {
  const Scope scope(*this);
  staging_.download(static_cast<std::byte*>(to), address_of(from), bytes, stream_);
}

void Gpu::fail(CUresult result, std::string_view what) const {
  const std::string words = cat(what, " of cuda:", number_, ": ", driver_.words(result));
  if (is_fatal(result)) health_.lose(words);
  throw Error(words);
}

void Gpu::wait(CUstream stream) const {
  const Scope scope(*this);
  check(driver_.cuStreamSynchronize(stream), "the kernels");
}

std::unique_ptr<runtime::Work> Gpu::begin(runtime::Stream stream) const {
  if (stream != nullptr) {
    const Scope scope(*this);
    CUcontext context = nullptr;
    check(driver_.cuStreamGetCtx(stream_of(stream), &context), "the caller's stream");
    if (context != context_)
      throw Error(cat("the stream of the run is not of cuda:", number_, "'s primary context"));
  }
  const bool captured = stream != nullptr && is_captured(stream_of(stream));
  return std::make_unique<CudaWork>(*this, stream_of(stream), overlaps_kernels_ && !captured);
}

std::unique_ptr<runtime::Event> Gpu::record(runtime::Stream stream) const {
  return std::make_unique<CudaEvent>(*this, stream_of(stream), timed_events_);
}

double Gpu::seconds(const runtime::Event& from, const runtime::Event& to) const {
  constexpr double MILLISECOND = 1e-3;
  to.wait();
  const Scope scope(*this);
  float passed = 0;
  check(driver_.cuEventElapsedTime(&passed, static_cast<const CudaEvent&>(from).event(),
                                   static_cast<const CudaEvent&>(to).event()),
        "the time between two events");
  return static_cast<double>(passed) * MILLISECOND;
}

void Gpu::copy(void* to, const void* from, std::int64_t bytes, runtime::Stream stream) const {
  const Scope scope(*this);
  check(driver_.cuMemcpyDtoDAsync(address_of(to), address_of(from), size_of(bytes), stream_of(stream)),
        "a copy in the memory");
}

void Gpu::clear(void* to, std::int64_t bytes, runtime::Stream stream) const {
  const Scope scope(*this);
  check(driver_.cuMemsetD8Async(address_of(to), 0, size_of(bytes), stream_of(stream)), "zeros in the memory");
}

Gpu::Scope::Scope(const Gpu& gpu) : gpu_(gpu) {
  gpu.health_.expect_alive();
  CUcontext current = nullptr;
  is_pushed_ = gpu.driver_.cuCtxGetCurrent(&current) != CUDA_SUCCESS || current != gpu.context_;
  if (is_pushed_) gpu.check(gpu.driver_.cuCtxPushCurrent(gpu.context_), "the context");
}
Gpu::Scope::~Scope() {
  if (!is_pushed_) return;
  CUcontext popped = nullptr;
  gpu_.driver_.cuCtxPopCurrent(&popped);
}

}  // namespace twinloom::cuda
