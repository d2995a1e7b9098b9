// See check.h.
#include "tests/conformance/check.h"

#include "core/base/error.h"
#include "tests/conformance/shrink.h"
#include "tests/conformance/through_program.h"

namespace twinloom::tests {

// Not by seed % 2 or % 4, which choose stages.
Against side_of(std::uint64_t seed) { return seed / 4 % 2 == 0 ? Against::start : Against::end; }

namespace {

struct Failure {
  std::size_t sizes;  // of Generated::sizes
  Difference difference;
};

std::optional<Failure> check(const Generated& generated, std::uint64_t seed, const std::string& stage = {}) {
  Comparison comparison(generated.graph, seed, stage);
  for (std::size_t at = 0; at < generated.sizes.size(); ++at) {
    const Arguments arguments(generated.graph, generated.inputs, generated.sizes[at], seed, side_of(seed));
    if (auto difference = comparison.first_difference(arguments)) return Failure{at, *difference};
  }
  return std::nullopt;
}

std::string words(const index::Values& sizes) {
  return join(sizes, ", ", [](const auto& size) { return cat(size.first.name(), " = ", size.second); });
}

// How `twinloom` runs what the stage runs; a program's interpreter has no switch, its JIT comes nearest.
std::string options_of(const std::string& stage) {
  constexpr std::string_view before_device = "the program on ", before_target = " for ";
  if (stage.starts_with(before_device)) {
    const std::string device = stage.substr(before_device.size());
    return cat(" --device ", device == SEALED ? "reference" : device);
  }
  const std::size_t at = stage.find(before_target);
  if (at == std::string::npos) return " --device reference";
  const std::string target = stage.substr(at + before_target.size());
  return target.starts_with("avx") ? cat(" --isa ", target) : " --device cuda";
}

// Halves sizes while it fails, then takes the graph apart; says where the result is.
std::string report(Plan plan, Generated generated, Failure failure) {
  const std::uint64_t seed = plan.seed;
  std::string text = cat("seed ", seed, ", sizes {", words(generated.sizes[failure.sizes]),
                         "}: ", failure.difference.stage, ": ", failure.difference.words, "\n");
  for (plan.shrink = 1; plan.shrink <= 6; ++plan.shrink) {
    Generated smaller = generate(plan);
    const auto still = check(smaller, seed, failure.difference.stage);
    if (!still || still->difference.stage != failure.difference.stage) continue;
    generated = std::move(smaller);
    failure = *still;
  }
  const Arguments arguments(generated.graph, generated.inputs, generated.sizes[failure.sizes], seed,
                            side_of(seed));
  const auto fails = [&](const Case& given) {
    const auto difference = Comparison(given.graph, seed, failure.difference.stage)
                                .first_difference(Arguments(given.inputs, side_of(seed)));
    return difference && difference->stage == failure.difference.stage;
  };
  Case small{generated.graph, arguments.given(), seed};
  Case row_major = small;
  for (Given& input : row_major.inputs) input.strides.clear();
  if (fails(row_major))
    small = std::move(row_major);
  else
    text += "with row-major inputs all stages agree: the layout of an input matters\n";
  small = shrink(std::move(small), fails);
  const auto now = Comparison(small.graph, seed, failure.difference.stage)
                       .first_difference(Arguments(small.inputs, side_of(seed)));
  if (now) text += cat("shrunk: ", now->stage, ": ", now->words, "\n");
  text += cat("run: twinloom ", write_case(small, cat("seed_", seed)), options_of(failure.difference.stage),
              "\n");
  return text + graph::print(small.graph).substr(0, 4000);
}

}  // namespace

std::optional<std::string> report_of(const Plan& plan, const std::string& stage) {
  Generated generated = generate(plan);
  const auto failure = check(generated, plan.seed, stage);
  if (!failure) return std::nullopt;
  return report(plan, std::move(generated), *failure);
}

}  // namespace twinloom::tests
