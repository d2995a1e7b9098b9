// Runs every function of one input on a GPU over all f32 (2^32 inputs) and all 16-bit floats (2^16), and
// every conversion from f32 to 16 bits, and quotients of f32 that are hardest to round (quotients.h), of
// divisors each and of one that a row shares, and compares the bits with those of the CPU back end. All NaNs
// are one.
//   gpu_functions [--only WORDS] [--every N] [--from NAME] [--seconds S] [--list]
// A line each: name, inputs, how many differ and the first of them, seconds. The last line says how many of
// how many were compared, and with --seconds, after which none is begun, from which one to go on. Exit code
// 1: one differs.
//
// The next chunk of the GPU is computed and copied while the CPU's is computed and compared.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>
#include <iostream>
#include <mutex>
#include <thread>

#include "api/twinloom.h"
#include "core/base/stopwatch.h"
#include "core/ops/pointwise.h"
#include "tests/cuda/functions/quotients.h"

namespace twinloom::cuda {

namespace {

constexpr std::int64_t CHUNK = std::int64_t{1}
                               << 24;  // inputs of f32 at a time; their results stay in caches

struct Options {
  std::vector<std::string> only;
  int every = 1;
  std::string from;    // the first of them; empty: from the beginning
  double seconds = 0;  // after which none is begun; 0: all are
  bool list = false;   // print their names, no more
};

std::int64_t byte_count(const Tensor& tensor) {
  return runtime::element_count(tensor) * ops::size_of(tensor.dtype);
}

// Writes the elements that belong to the inputs first, first + 1, ... of a case.
using Fill = void (*)(const Tensor& tensor, std::int64_t first);

// body(begin, end) over parts of 0 <= i < count, by all cores.
template <class Body>
void in_parts(std::int64_t count, const Body& body) {
  const std::int64_t parts = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;
  for (std::int64_t part = 0; part < parts; ++part)
    threads.emplace_back([&, part] { body(count * part / parts, count * (part + 1) / parts); });
}

// The numbers whose bits are first, first + 1, ...
void fill_with_bits(const Tensor& tensor, std::int64_t first) {
  in_parts(tensor.sizes[0], [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (ops::bits_of(tensor.dtype) == 32)
        static_cast<std::uint32_t*>(tensor.data)[i] = static_cast<std::uint32_t>(first + i);
      else
        static_cast<std::uint16_t*>(tensor.data)[i] = static_cast<std::uint16_t>(first + i);
    }
  });
}

// One operand of the quotients first, first + 1, ..., or of each QUOTIENTS_EACH of them where one divisor is
// shared.
template <Quotient (*quotient)(std::int64_t), float Quotient::*operand>
void fill_with_quotients(const Tensor& tensor, std::int64_t first) {
  const std::int64_t each = tensor.sizes[1] == 1 ? QUOTIENTS_EACH : 1;
  in_parts(runtime::element_count(tensor), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      static_cast<float*>(tensor.data)[i] = quotient(first + i * each).*operand;
  });
}

struct Operand {
  DType dtype;
  std::vector<std::int64_t> sizes;
  Fill fill = nullptr;  // of inputs
};
// A function of its inputs.
struct Case {
  std::string name;
  std::vector<Operand> inputs;
  Operand result;
  std::int64_t all;  // inputs that there are
  Graph graph;
};

template <class Function>
Case case_of(std::string name, std::vector<Operand> inputs, Operand result, std::int64_t all,
             const Function& function) {
  Builder builder;
  std::vector<graph::Tensor> values;
  for (const Operand& input : inputs)
    values.push_back(builder.input(cat("x", values.size()), input.dtype,
                                   graph::Shape(input.sizes.begin(), input.sizes.end())));
  builder.output(function(values));
  return {std::move(name), std::move(inputs), std::move(result), all, builder.take()};
}

std::int64_t all_inputs(DType dtype) { return std::int64_t{1} << ops::bits_of(dtype); }

Case function_case(ops::Pointwise op, DType dtype) {
  const std::vector sizes = {std::min(CHUNK, all_inputs(dtype))};
  return case_of(fmt::format("{} {}", name(op), name(dtype)), {{dtype, sizes, fill_with_bits}},
                 {dtype, sizes}, all_inputs(dtype),
                 [&](const auto& inputs) { return graph::pointwise(op, inputs); });
}
Case conversion_case(DType to) {
  return case_of(fmt::format("f32 to {}", name(to)), {{DType::f32, {CHUNK}, fill_with_bits}}, {to, {CHUNK}},
                 all_inputs(DType::f32), [&](const auto& inputs) { return graph::cast(inputs[0], to); });
}
template <Quotient (*quotient)(std::int64_t)>
Case quotient_case(const std::string& name, bool is_shared) {
  constexpr std::int64_t ROWS = CHUNK / QUOTIENTS_EACH;
  const std::vector sizes = {ROWS, QUOTIENTS_EACH}, of_b = {ROWS, is_shared ? 1 : QUOTIENTS_EACH};
  return case_of(name + (is_shared ? " of rows" : ""),
                 {{DType::f32, sizes, fill_with_quotients<quotient, &Quotient::a>},
                  {DType::f32, of_b, fill_with_quotients<quotient, &Quotient::b>}},
                 {DType::f32, sizes}, ALL_QUOTIENTS,
                 [](const auto& inputs) { return graph::pointwise(ops::Pointwise::div, inputs); });
}

// Of one input, and of a GPU no other than of a CPU.
bool is_function(ops::Pointwise op) {
  using enum ops::Pointwise;
  constexpr ops::Pointwise same_when_approximated[] = {gelu_erf_approximate, gelu_tanh_approximate};
  const bool is_same = !ops::approximated_by(op) || std::ranges::find(same_when_approximated, op) !=
                                                        std::ranges::end(same_when_approximated);
  return ops::arity(op) == 1 && ops::takes(op) == ops::Takes::real && ops::gives(op) == ops::Gives::same &&
         is_same;
}
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const bool is_shared : {false, true}) {
    all.push_back(quotient_case<hardest_quotient>("hardest a / b", is_shared));
    all.push_back(quotient_case<any_quotient>("any a / b", is_shared));
  }
  for (const DType to : {DType::bf16, DType::f16}) all.push_back(conversion_case(to));
  for (const DType dtype : {DType::bf16, DType::f16, DType::f32}) {
    for (const ops::Pointwise op : ops::all_pointwise())
      if (is_function(op)) all.push_back(function_case(op, dtype));
  }
  return all;
}

struct Differences {
  std::int64_t count = 0;
  std::int64_t first = -1;  // the lowest input's bits
  void add(std::int64_t input) {
    if (count++ == 0 || input < first) first = input;
  }
};

bool is_nan(std::uint32_t bits, DType dtype) {
  if (dtype == DType::f32) return (bits & 0x7fffffffu) > 0x7f800000u;
  return (bits & 0x7fffu) > (dtype == DType::f16 ? 0x7c00u : 0x7f80u);
}

// Where words of the two differ; `input` is that of the first.
template <class Word>
Differences compared(const Tensor& left, const Tensor& right, std::int64_t input) {
  const auto *a = static_cast<const Word*>(left.data), *b = static_cast<const Word*>(right.data);
  std::mutex mutex;
  Differences all;
  in_parts(runtime::element_count(left), [&](std::int64_t begin, std::int64_t end) {
    if (std::memcmp(a + begin, b + begin, static_cast<std::size_t>(end - begin) * sizeof(Word)) == 0) return;
    const std::lock_guard lock(mutex);
    for (std::int64_t i = begin; i < end; ++i) {
      const bool nans = is_nan(a[i], left.dtype) && is_nan(b[i], left.dtype);
      if (a[i] != b[i] && !nans) all.add(input + i);
    }
  });
  return all;
}

// One case on both devices.
class Comparison {
 public:
  Comparison(const Case& given, const Device& gpu)
      : given_(given),
        space_(*gpu.backend().space()),
        on_gpu_(compile(given.graph, gpu, {.mode = Mode::strict})),
        on_cpu_(compile(given.graph, Device::cpu(), {.mode = Mode::strict})),
        gpu_result_(gpu.upload(allocated(given.result))),
        cpu_result_(allocated(given.result)) {
    for (const Operand& input : given.inputs) gpu_inputs_.emplace_back(gpu.upload(allocated(input)));
    for (Side* side : {&now_, &next_}) {
      for (const Operand& input : given.inputs) side->inputs.emplace_back(allocated(input));
      side->gpu_result = allocated(given.result);
    }
  }

  Differences run(int every) {
    Differences all;
    const std::int64_t count = runtime::element_count(cpu_result_), step = count * every;
    run_gpu(now_, 0);
    for (std::int64_t first = 0; first < given_.all; first += step) {
      std::future<void> ahead;
      if (first + step < given_.all)
        ahead = std::async(std::launch::async, [&] { run_gpu(next_, first + step); });
      on_cpu_.run(std::vector<Argument>(now_.inputs.begin(), now_.inputs.end()), {},
                  std::vector<Tensor>{cpu_result_});
      const Differences found = ops::bits_of(given_.result.dtype) == 32
                                    ? compared<std::uint32_t>(now_.gpu_result, cpu_result_, first)
                                    : compared<std::uint16_t>(now_.gpu_result, cpu_result_, first);
      if (all.count == 0) all.first = found.first;
      all.count += found.count;
      inputs_ += count;
      if (ahead.valid()) ahead.get();
      std::swap(now_, next_);
    }
    return all;
  }
  std::int64_t inputs() const { return inputs_; }

 private:
  struct Side {
    std::vector<Tensor> inputs;
    Tensor gpu_result;
  };

  static Tensor allocated(const Operand& operand) { return runtime::allocate(operand.dtype, operand.sizes); }

  void run_gpu(Side& side, std::int64_t first) {
    for (std::size_t i = 0; i < side.inputs.size(); ++i) {
      given_.inputs[i].fill(side.inputs[i], first);
      space_.upload(gpu_inputs_[i].data, side.inputs[i].data, byte_count(side.inputs[i]));
    }
    on_gpu_.run(std::vector<Argument>(gpu_inputs_.begin(), gpu_inputs_.end()), {},
                std::vector<Tensor>{gpu_result_});
    space_.download(side.gpu_result.data, gpu_result_.data, byte_count(side.gpu_result));
  }

  const Case& given_;
  const runtime::Space& space_;
  Executable on_gpu_, on_cpu_;
  std::vector<Tensor> gpu_inputs_;
  Tensor gpu_result_, cpu_result_;
  Side now_, next_;
  std::int64_t inputs_ = 0;
};

// Those that are asked for. Error where none has the name of `from`.
std::vector<Case> chosen(const Options& options) {
  std::vector<Case> all = cases();
  std::erase_if(all, [&](const Case& given) {
    const auto matches = [&](const std::string& word) { return given.name.find(word) != std::string::npos; };
    return !options.only.empty() && std::ranges::none_of(options.only, matches);
  });
  if (options.from.empty()) return all;
  const auto first = std::ranges::find(all, options.from, &Case::name);
  if (first == all.end())
    throw Error(cat("--from: no case has the name '", options.from, "'; --list prints them"));
  all.erase(all.begin(), first);
  return all;
}

// Whether all bits are the same.
bool compare(const Case& given, const Device& gpu, int every) {
  Stopwatch stopwatch;
  Comparison comparison(given, gpu);
  const Differences found = comparison.run(every);
  const std::string first = found.count == 0 ? "" : fmt::format(", the first of {:#x}", found.first);
  std::cout << fmt::format("{:<22} {:>10} inputs, {} differ{}, {:.2f} s", given.name, comparison.inputs(),
                           found.count, first, stopwatch.lap())
            << std::endl;
  return found.count == 0;
}

bool run(const Options& options) {
  const std::vector<Case> all = chosen(options);
  if (options.list) {
    for (const Case& given : all) std::cout << given.name << "\n";
    return true;
  }
  const Device gpu = Device::cuda(0);
  std::size_t compared = 0, different = 0;
  double passed = 0;
  for (Stopwatch stopwatch; compared < all.size(); ++compared) {
    if (options.seconds > 0 && passed >= options.seconds) break;
    if (!compare(all[compared], gpu, options.every)) ++different;
    passed += stopwatch.lap();
  }
  const std::string next =
      compared == all.size() ? "" : fmt::format("; go on with --from '{}'", all[compared].name);
  std::cout << fmt::format("compared {} of {} in {:.1f} s, {} differ{}\n", compared, all.size(), passed,
                           different, next);
  return different == 0;
}

}  // namespace

}  // namespace twinloom::cuda

int main(int count, char** words) {
  twinloom::cuda::Options options;
  CLI::App app(
      "Functions of one input and conversions on a GPU: the same bits as on the CPU, for every input");
  app.add_option("--only", options.only, "those whose names contain one of these: sin, f16");
  app.add_option("--every", options.every, "one chunk of inputs in so many")->check(CLI::PositiveNumber);
  app.add_option("--from", options.from, "leave out those before this one");
  app.add_option("--seconds", options.seconds,
                 "begin none after so many seconds; the last line says where to go on")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--list", options.list, "print the names");
  CLI11_PARSE(app, count, words);
  try {
    return twinloom::cuda::run(options) ? 0 : 1;
  } catch (const twinloom::Error& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
