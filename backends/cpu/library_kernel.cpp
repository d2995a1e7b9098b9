// See library_kernel.h.
#include "backends/cpu/library_kernel.h"

#include <omp.h>

#include <algorithm>
#include <utility>

#include "backends/cpu/floating_point.h"
#include "backends/cpu/library_epilogue.h"
#include "backends/cpu/library_layouts.h"
#include "core/base/error.h"

namespace twinloom::cpu {

namespace {

// The caller's number of threads comes back at the end of the scope.
class ThreadScope {
 public:
  explicit ThreadScope(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~ThreadScope() { omp_set_num_threads(before_); }
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

// What a call without its epilogue computes.
loops::Contraction without_operands(loops::Contraction of) {
  of.operands.clear();
  for (loops::Contraction::Axis& axis : of.kept) axis.operands.clear();
  return of;
}

bool lies_in_results(const LibraryCall::Operands& operands, std::optional<std::size_t> operand) {
  return operand && operands.epilogue[*operand] == operands.out;
}

// Its operands, and what it leaves where that is no integer.
bool has_epilogue_of_f32(const loops::ContractionTypes& types) {
  return !ops::is_16_bit_float(types.out) &&
         std::ranges::all_of(types.operands, [](ops::DType dtype) { return dtype == ops::DType::f32; });
}

bool can_begin_again(const runtime::RunSettings& settings) {
  return settings.attempt != nullptr && !settings.attempt->is_careful;
}

// Whether this thread's workers may have flags of what is not part of the run: kernels leave none behind, and
// a call's are taken. One that is left over would have a call made twice, not wrongly.
bool may_have_flags(std::uint64_t run) {
  thread_local std::uint64_t last = 0;
  return run == 0 || std::exchange(last, run) != run;
}

}  // namespace

double library_rate(const machine::Machine& machine) {
  if (!onednn_path()) return 0;
  // Two operations a lane of each instruction; of the instructions' rate three quarters are reached.
  constexpr double OPERATIONS = 2, REACHED = 0.75, LANE_BYTES = 4;
  return OPERATIONS * REACHED * machine.vector_bytes / LANE_BYTES * machine.issue_each * machine.clock_hertz;
}

LibraryKernel::LibraryKernel(const loops::Program& nest, const machine::Machine& machine)
    : name_(nest.name),
      call_(loops::call_in(nest)),
      types_(loops::types_in(nest, call_.contraction)),
      in_results_(types_.out == ops::DType::f32 ? operand_in_results(call_) : std::nullopt),
      workers_(machine.blocks_at_once) {
  for (const loops::SizeInfo& size : nest.sizes) sizes_.push_back(size.symbol);
  for (const loops::BufferInfo& buffer : nest.buffers) dtypes_.push_back(buffer.dtype);
  onednn::functions();
}

LibraryKernel::LibraryKernel(const LibraryKernel& of, const ConstantFactors& constants)
    : name_(of.name_),
      call_(of.call_),
      types_(of.types_),
      in_results_(of.in_results_),
      sizes_(of.sizes_),
      dtypes_(of.dtypes_),
      workers_(of.workers_),
      constants_(constants) {}

std::unique_ptr<const runtime::Kernel> LibraryKernel::with_constants(
    std::span<const runtime::ConstantArgument> arguments) const {
  const ConstantFactors constants{arguments[call_.contraction.left.index].content,
                                  arguments[call_.contraction.right.index].content};
  if (constants.left == nullptr && constants.right == nullptr) return nullptr;
  return std::unique_ptr<const Kernel>(new LibraryKernel(*this, constants));
}

bool LibraryKernel::serves(const loops::Program& nest, const machine::Machine& machine) {
  const loops::ContractionCall call = loops::call_in(nest);
  const loops::ContractionTypes types = loops::types_in(nest, call.contraction);
  if (!call.epilogue.empty() && !has_epilogue_of_f32(types)) return false;
  const ThreadScope scope(machine.blocks_at_once);
  onednn::functions();  // that it cannot be opened is said
  try {
    return LibraryCall::make(loops::with_usual_sizes(call, nest), types) != nullptr;
  } catch (const Error&) {
    return false;  // a layout that it does not describe, or cannot reorder
  }
}

loops::ContractionCall LibraryKernel::with_sizes(std::span<const std::int64_t> sizes) const {
  return loops::with_sizes(call_, sizes_, sizes);
}

loops::ContractionTypes LibraryKernel::types_of_sums() const {
  loops::ContractionTypes types = types_;
  if (!call_.epilogue.empty()) types.out = ops::DType::f32;
  return types;
}

std::vector<loops::InPlace> LibraryKernel::in_place(std::span<const std::int64_t> sizes) const {
  if (!in_results_ || call_for(sizes, workers_, Epilogue::in_results) == nullptr) return {};
  return {{call_.contraction.operands[*in_results_].buffer, call_.contraction.out}};
}

std::shared_ptr<const LibraryCall> LibraryKernel::call_for(std::span<const std::int64_t> sizes, int threads,
                                                           Epilogue epilogue) const {
  Key key(sizes.begin(), sizes.end());
  key.insert(key.end(), {threads, static_cast<std::int64_t>(epilogue)});
  return calls_.get(key,
                    [&] { return std::shared_ptr<const LibraryCall>(make_call(sizes, threads, epilogue)); });
}

std::unique_ptr<const LibraryCall> LibraryKernel::make_call(std::span<const std::int64_t> sizes, int threads,
                                                            Epilogue epilogue) const {
  loops::ContractionCall call = with_sizes(sizes);
  if (epilogue == Epilogue::apart) call = {without_operands(std::move(call.contraction)), {}};
  const ThreadScope scope(threads);
  const auto make = [&](Serves serves) {
    return LibraryCall::make(call, epilogue == Epilogue::apart ? types_of_sums() : types_, constants_,
                             epilogue == Epilogue::in_results ? in_results_ : std::nullopt, serves);
  };
  auto made = make(Serves::fast);
  // Of the usual sizes there is a fast one; a run may have others.
  return made == nullptr && epilogue != Epilogue::in_results && !sizes.empty() ? make(Serves::any)
                                                                               : std::move(made);
}

const LibraryCall& LibraryKernel::needed(const std::shared_ptr<const LibraryCall>& call) const {
  if (call == nullptr)
    throw Error(
        cat("kernel '", name_, "': oneDNN has no product for its sizes (TWINLOOM_ONEDNN=0 leaves it out)"));
  return *call;
}

void LibraryKernel::run_in_two(const LibraryCall::Operands& operands, std::span<const std::int64_t> sizes,
                               int threads) const {
  const loops::ContractionCall call = with_sizes(sizes);
  const std::int64_t begin = loops::known(call.contraction.out_begin);
  std::vector<float> apart;
  LibraryCall::Operands summed = operands;
  if (types_.out != types_of_sums().out || lies_in_results(operands, in_results_)) {
    apart.resize(static_cast<std::size_t>(begin + span_of_results(call.contraction)));
    summed.out = apart.data();
  }
  needed(call_for(sizes, threads, Epilogue::apart)).run(summed);
  std::vector<const float*> beside;
  for (std::size_t number = 0; number < operands.epilogue.size(); ++number)
    beside.push_back(static_cast<const float*>(operands.epilogue[number]) +
                     loops::known(call.contraction.operands[number].begin));
  apply_epilogue(call, static_cast<const float*>(summed.out) + begin,
                 static_cast<std::byte*>(operands.out) + begin * ops::size_of(types_.out), types_.out, beside,
                 threads);
}

std::int32_t LibraryKernel::zero_in(const loops::Contraction::Zero& zero,
                                    std::span<const runtime::Memory> arguments,
                                    std::span<const std::int64_t> sizes) const {
  if (!zero.stored) return static_cast<std::int32_t>(zero.number);
  index::Values known;
  for (std::size_t at = 0; at < sizes.size(); ++at) known.emplace(sizes_[at], sizes[at]);
  const std::size_t buffer = zero.stored->buffer.index;
  const std::int64_t at = index::evaluate(zero.stored->begin, known);
  const auto* bytes = static_cast<const std::byte*>(arguments[buffer].data);
  const ops::DType dtype = dtypes_[buffer];
  return static_cast<std::int32_t>(ops::load_number(dtype, bytes + at * ops::size_of(dtype)).integer());
}

LibraryCall::Operands LibraryKernel::operands_at(std::span<const runtime::Memory> arguments,
                                                 std::span<const std::int64_t> sizes) const {
  const auto at = [&](loops::Buffer buffer) { return arguments[buffer.index].data; };
  const loops::Contraction& of = call_.contraction;
  LibraryCall::Operands operands{at(of.out), at(of.left), at(of.right)};
  for (const loops::Contraction::Operand& operand : of.operands)
    operands.epilogue.push_back(at(operand.buffer));
  operands.left_zero = zero_in(of.left_zero, arguments, sizes);
  operands.right_zero = zero_in(of.right_zero, arguments, sizes);
  return operands;
}

std::optional<runtime::Failure> LibraryKernel::run(std::span<const runtime::Memory> arguments,
                                                   std::span<const std::int64_t> sizes,
                                                   const runtime::RunSettings& settings) const {
  const int threads = settings.threads > 0 ? settings.threads : workers_;
  const LibraryCall::Operands operands = operands_at(arguments, sizes);
  const bool in_results = lies_in_results(operands, in_results_);
  const bool may_drop = may_drop_nan(call_.epilogue);
  const FloatingPointScope floating_point;
  const ThreadScope scope(threads);
  const auto call = call_for(sizes, threads, in_results ? Epilogue::in_results : Epilogue::inside);
  // What is overwritten is not there for a second call.
  const bool may_be_lost = in_results && may_drop;
  if (in_results && (call == nullptr || (may_be_lost && !can_begin_again(settings)))) {
    run_in_two(operands, sizes, threads);
    return std::nullopt;
  }
  if (may_drop && may_have_flags(settings.run)) clear_invalid(threads);
  needed(call).run(operands);
  if (!may_drop || !take_invalid(threads)) return std::nullopt;
  if (may_be_lost)
    settings.attempt->is_lost = true;
  else
    run_in_two(operands, sizes, threads);
  return std::nullopt;
}

}  // namespace twinloom::cpu
