// See make_texts.h.
#include "tests/goldens/make_texts.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <iterator>

#include "core/base/text.h"
#include "core/pipeline/pipeline.h"
#include "tests/goldens/subjects.h"

namespace twinloom::tests {

namespace {

std::vector<KernelTexts> kernels_of(const runtime::Variant& variant) {
  std::vector<KernelTexts> kernels;
  for (const runtime::Group& group : variant.groups)
    kernels.push_back({group.name, loops::print(group.nest), {}, {}});
  for (const runtime::Step& step : variant.steps) {
    KernelTexts& kernel = kernels[step.unit];
    kernel.schedule = step.schedule;
    kernel.programs.push_back(
        {step.program.name, loops::print(step.program), step.source ? step.source() : ""});
  }
  return kernels;
}

std::vector<KernelTexts> kernels_of(const Subject& subject,
                                    const std::shared_ptr<const runtime::Backend>& planner,
                                    pipeline::Mode mode) {
  pipeline::Options options;
  options.mode = mode;
  options.build_threads = 1;
  return kernels_of(*pipeline::compile(subject.graph, planner, options).variant(subject.arguments));
}

}  // namespace

std::vector<SubjectTexts> make_texts(const std::shared_ptr<const runtime::Backend>& planner) {
  const std::vector<Subject> given = subjects(planner->machine().max_threads > 1);
  std::vector<std::vector<SubjectTexts>> made(given.size());
  tbb::parallel_for(std::size_t{0}, given.size(), [&](std::size_t at) {
    const Subject& subject = given[at];
    std::vector<KernelTexts> fused = kernels_of(subject, planner, pipeline::Mode::fused);
    std::vector<KernelTexts> strict = kernels_of(subject, planner, pipeline::Mode::strict);
    const bool is_other = strict != fused;
    made[at].push_back({subject.name, std::move(fused)});
    if (is_other) made[at].push_back({cat(subject.name, ", strict"), std::move(strict)});
  });
  std::vector<SubjectTexts> all;
  for (std::vector<SubjectTexts>& some : made) std::ranges::move(some, std::back_inserter(all));
  return all;
}

}  // namespace twinloom::tests
