// What is chosen for an H200 becomes CUDA that NVRTC takes: every nest of the tests of schedules.
#include <gtest/gtest.h>

#include "backends/cuda/translate.h"
#include "core/emit/emit.h"
#include "core/machine/gpu.h"
#include "core/schedule/schedule.h"
#include "tests/cuda/compiler.h"
#include "tests/schedule/nests.h"

namespace twinloom::cuda {

namespace {

class Kernels : public testing::TestWithParam<std::size_t> {};

TEST_P(Kernels, NvrtcTakesWhatIsChosen) {
  TWINLOOM_NEEDS_NVRTC();
  static const Translator translator("sm_90a");
  const tests::NestCase& given = tests::nest_cases()[GetParam()];
  const loops::Program nest = loops::parse(given.text);
  const schedule::Schedule chosen = schedule::choose(nest, machine::h200());
  for (const loops::Program& program : schedule::apply(nest, chosen)) {
    for (const Handed handed : {Handed::usual, Handed::any}) {
      const KernelText text = translator.text(program, handed);
      EXPECT_FALSE(translator.object(text, program.name).empty()) << text.source;
    }
    EXPECT_LE(emit::thread_count(program), machine::h200().max_threads);
  }
}

std::string name_of(const testing::TestParamInfo<std::size_t>& info) {
  return std::string(tests::nest_cases()[info.param].name);
}
INSTANTIATE_TEST_SUITE_P(All, Kernels, testing::Range(std::size_t{0}, tests::nest_cases().size()), name_of);

}  // namespace

}  // namespace twinloom::cuda
