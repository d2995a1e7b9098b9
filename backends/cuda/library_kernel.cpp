// See library_kernel.h.
#include "backends/cuda/library_kernel.h"

#include "backends/cuda/cublas.h"
#include "core/base/error.h"

namespace twinloom::cuda {

namespace {

LibraryCall::Operands operands_at(const loops::Contraction& of, std::span<const runtime::Memory> arguments) {
  const auto at = [&](loops::Buffer buffer) { return static_cast<std::byte*>(arguments[buffer.index].data); };
  LibraryCall::Operands operands{at(of.out), at(of.left), at(of.right)};
  for (const loops::Contraction::Operand& operand : of.operands)
    operands.epilogue.push_back(at(operand.buffer));
  return operands;
}

}  // namespace

machine::Machine machine_with_library(machine::Machine machine) {
  if (!has_cublas()) return machine;
  // Two operations a thread of each warp's instruction, of whose rate three quarters are reached. An H200
  // reaches 50 TFLOP/s with factors of f32, with those of 16 bits 12.6 to 15.7 times as many (large products
  // of perf/results/2026-11-29-h200-products.md).
  constexpr double OPERATIONS = 2, REACHED = 0.75, NARROW = 14;
  machine.library_rate = OPERATIONS * REACHED * machine.warp_threads * machine.issue_each *
                         machine.clock_hertz * machine.multiprocessors / machine.blocks_at_once;
  machine.narrow_products = NARROW;
  return machine;
}

LibraryKernel::LibraryKernel(const Gpu& gpu, const loops::Program& nest)
    : gpu_(gpu),
      name_(nest.name),
      call_(loops::call_in(nest)),
      types_(loops::types_in(nest, call_.contraction)) {
  for (const loops::SizeInfo& size : nest.sizes) sizes_.push_back(size.symbol);
  cublas::functions();
}

bool LibraryKernel::serves(const Gpu& gpu, const loops::Program& nest) {
  const loops::ContractionCall call = loops::with_usual_sizes(loops::call_in(nest), nest);
  const loops::ContractionTypes types = loops::types_in(nest, call.contraction);
  const auto product = matrix_call_of(call, types);
  if (!product) return false;
  try {
    const Gpu::Scope scope(gpu);
    LibraryCall::Operands operands{};  // buffers begin at multiples of what it asks for
    operands.epilogue.resize(call.contraction.operands.size());
    return LibraryCall::make(gpu, *product, types, LibraryCall::alignments_of(*product, types, operands)) !=
           nullptr;
  } catch (const Error&) {
    return false;  // it cannot be opened, or does not start with this driver
  }
}

std::shared_ptr<const LibraryCall> LibraryKernel::call_for(std::span<const std::int64_t> sizes,
                                                           const LibraryCall::Operands& operands) const {
  Key key(sizes.begin(), sizes.end());
  const auto add = [&](const std::byte* address) {
    key.push_back(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address) % MOST_ALIGNED));
  };
  for (const std::byte* address : {operands.out, operands.left, operands.right}) add(address);
  for (const std::byte* address : operands.epilogue) add(address);
  return calls_.get(key, [&] { return std::shared_ptr<const LibraryCall>(make_call(sizes, operands)); });
}

std::unique_ptr<const LibraryCall> LibraryKernel::make_call(std::span<const std::int64_t> sizes,
                                                            const LibraryCall::Operands& operands) const {
  const auto product = matrix_call_of(loops::with_sizes(call_, sizes_, sizes), types_);
  auto made = product ? LibraryCall::make(gpu_, *product, types_,
                                          LibraryCall::alignments_of(*product, types_, operands))
                      : nullptr;
  if (made == nullptr)
    throw Error(
        cat("kernel '", name_, "': cuBLASLt has no product for its sizes (TWINLOOM_CUBLAS=0 leaves it out)"));
  return made;
}

std::optional<runtime::Failure> LibraryKernel::run(std::span<const runtime::Memory> arguments,
                                                   std::span<const std::int64_t> sizes,
                                                   const runtime::RunSettings& settings) const {
  CHECK(settings.work != nullptr, name_, " was started outside of a run");
  auto& work = static_cast<CudaWork&>(*settings.work);
  const Gpu::Scope scope(gpu_);
  const LibraryCall::Operands operands = operands_at(call_.contraction, arguments);
  call_for(sizes, operands)->run(operands, work.cuda_stream(), cat("the product of ", name_));
  return std::nullopt;
}

}  // namespace twinloom::cuda
