// Runs every function of one input on a GPU over all f32 (2^32 inputs) and all 16-bit floats (2^16), and
// every conversion from f32 to 16 bits, and compares the bits with those of the CPU back end. All NaNs are
// one.
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

// A graph of one input and one output.
struct Case {
  std::string name;
  DType from, to;
  Graph graph;
};

Case function_case(ops::Pointwise op, DType dtype, std::int64_t count) {
  Builder builder;
  builder.output(graph::pointwise(op, {builder.input("x", dtype, {count})}));
  return {fmt::format("{} {}", name(op), name(dtype)), dtype, dtype, builder.take()};
}
Case conversion_case(DType to) {
  Builder builder;
  builder.output(graph::cast(builder.input("x", DType::f32, {CHUNK}), to));
  return {fmt::format("f32 to {}", name(to)), DType::f32, to, builder.take()};
}

bool is_function(ops::Pointwise op) {
  return ops::arity(op) == 1 && ops::takes(op) == ops::Takes::real && ops::gives(op) == ops::Gives::same &&
         !ops::approximated_by(op);
}
std::int64_t all_inputs(DType dtype) { return std::int64_t{1} << ops::bits_of(dtype); }

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const DType to : {DType::bf16, DType::f16}) all.push_back(conversion_case(to));
  for (const DType dtype : {DType::bf16, DType::f16, DType::f32}) {
    for (const ops::Pointwise op : ops::all_pointwise())
      if (is_function(op)) all.push_back(function_case(op, dtype, std::min(CHUNK, all_inputs(dtype))));
  }
  return all;
}

// body(begin, end) over parts of 0 <= i < count, by all cores.
template <class Body>
void in_parts(std::int64_t count, const Body& body) {
  const std::int64_t parts = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;
  for (std::int64_t part = 0; part < parts; ++part)
    threads.emplace_back([&, part] { body(count * part / parts, count * (part + 1) / parts); });
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
  in_parts(left.sizes[0], [&](std::int64_t begin, std::int64_t end) {
    if (std::memcmp(a + begin, b + begin, static_cast<std::size_t>(end - begin) * sizeof(Word)) == 0) return;
    const std::lock_guard lock(mutex);
    for (std::int64_t i = begin; i < end; ++i) {
      const bool nans = is_nan(a[i], left.dtype) && is_nan(b[i], left.dtype);
      if (a[i] != b[i] && !nans) all.add(input + i);
    }
  });
  return all;
}

// The numbers whose bits are first, first + 1, ...
void fill(const Tensor& tensor, std::int64_t first) {
  in_parts(tensor.sizes[0], [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (ops::bits_of(tensor.dtype) == 32)
        static_cast<std::uint32_t*>(tensor.data)[i] = static_cast<std::uint32_t>(first + i);
      else
        static_cast<std::uint16_t*>(tensor.data)[i] = static_cast<std::uint16_t>(first + i);
    }
  });
}

std::int64_t byte_count(const Tensor& tensor) { return tensor.sizes[0] * ops::size_of(tensor.dtype); }

// One case on both devices.
class Comparison {
 public:
  Comparison(const Case& given, const Device& gpu)
      : given_(given),
        space_(*gpu.backend().space()),
        on_gpu_(compile(given.graph, gpu, {.mode = Mode::strict})),
        on_cpu_(compile(given.graph, Device::cpu(), {.mode = Mode::strict})),
        count_(std::min(CHUNK, all_inputs(given.from))),
        gpu_input_(gpu.upload(runtime::allocate(given.from, {count_}))),
        gpu_output_(gpu.upload(runtime::allocate(given.to, {count_}))) {
    for (Side* side : {&now_, &next_}) {
      side->input = runtime::allocate(given.from, {count_});
      side->gpu_result = runtime::allocate(given.to, {count_});
    }
    cpu_result_ = runtime::allocate(given.to, {count_});
  }

  Differences run(int every) {
    Differences all;
    const std::int64_t step = count_ * every, end = all_inputs(given_.from);
    run_gpu(now_, 0);
    for (std::int64_t first = 0; first < end; first += step) {
      std::future<void> ahead;
      if (first + step < end) ahead = std::async(std::launch::async, [&] { run_gpu(next_, first + step); });
      on_cpu_.run(std::vector<Argument>{now_.input}, {}, std::vector<Tensor>{cpu_result_});
      const Differences found = ops::bits_of(given_.to) == 32
                                    ? compared<std::uint32_t>(now_.gpu_result, cpu_result_, first)
                                    : compared<std::uint16_t>(now_.gpu_result, cpu_result_, first);
      if (all.count == 0) all.first = found.first;
      all.count += found.count;
      inputs_ += count_;
      if (ahead.valid()) ahead.get();
      std::swap(now_, next_);
    }
    return all;
  }
  std::int64_t inputs() const { return inputs_; }

 private:
  struct Side {
    Tensor input, gpu_result;
  };

  void run_gpu(Side& side, std::int64_t first) {
    fill(side.input, first);
    space_.upload(gpu_input_.data, side.input.data, byte_count(side.input));
    on_gpu_.run(std::vector<Argument>{gpu_input_}, {}, std::vector<Tensor>{gpu_output_});
    space_.download(side.gpu_result.data, gpu_output_.data, byte_count(side.gpu_result));
  }

  const Case& given_;
  const runtime::Space& space_;
  Executable on_gpu_, on_cpu_;
  std::int64_t count_;
  Tensor gpu_input_, gpu_output_, cpu_result_;
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
