// See front_end.h.
#include "tests/conformance/front_end.h"

#ifdef TWINLOOM_HAS_CUDA
#include <functional>
#include <utility>

#include "backends/cuda/dialect.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/emit/emit.h"

namespace twinloom::tests {

namespace {

std::optional<cuda::Translator> syntax_only() {
  try {
    return std::optional<cuda::Translator>(std::in_place, "compute_90a",
                                           std::vector<std::string>{"--fdevice-syntax-only"});
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string replaced(std::string text, std::string_view from, const std::string& to) {
  const std::size_t at = text.find(from);
  CHECK(at != std::string::npos, "no '", from, "' in\n", text);
  return text.replace(at, from.size(), to);
}

// Each kernel under a name of its own, behind one inclusion of the headers.
std::string joined(const std::vector<std::string>& texts) {
  const std::string include = cat("#include \"", cuda::ENTRY_HEADER, "\"\n");
  std::string all = include;
  for (std::size_t at = 0; at < texts.size(); ++at)
    all += replaced(replaced(texts[at], include, ""), ") twinloom_", cat(") kernel_", at, "_"));
  return all;
}

}  // namespace

FrontEnd::FrontEnd() : translator_(syntax_only()) {}

void FrontEnd::add(const loops::Program& program) {
  std::string text = emit::emit(program, cuda::CudaDialect(cuda::Handed::usual), loops::print(program));
  const std::lock_guard lock(mutex_);
  if (seen_.insert(std::hash<std::string>()(text)).second) waiting_.push_back(std::move(text));
}

void FrontEnd::check(std::size_t least) {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty() || waiting_.size() < least) return;
  const std::vector<std::string> texts = std::exchange(waiting_, {});
  if (!translator_) return;
  try {
    translator_->object({joined(texts), {}}, "kernels_of_graphs");
  } catch (const Bug&) {
    for (const std::string& text : texts) translator_->object({joined({text}), {}}, "kernel_of_a_graph");
    throw;
  }
}

}  // namespace twinloom::tests
#endif
