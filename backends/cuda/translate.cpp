// See translate.h.
#include "backends/cuda/translate.h"

#include "backends/cuda/launch_bounds.h"
#include "backends/cuda/load.h"
#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/emit/emit.h"

namespace twinloom::cuda {

Translator::Translator(const std::string& architecture, std::vector<std::string> flags)
    : options_{architecture, std::move(flags)}, headers_(all_headers()), identity_(nvrtc_.identity()) {
  std::uint64_t hash = 0;
  for (const Header& header : headers_)
    hash = mix_hash(mix_hash(hash, stable_hash(header.path)), stable_hash(header.text));
  identity_ += cat("headers ", hash, "\n");
}

KernelText Translator::text(const loops::Program& program, Handed handed,
                            std::span<const loops::InPlace> in_place) const {
  const std::string text = emit::emit(program, CudaDialect(handed, in_place));
  return {{emit::commented(loops::print(program), text),
           object_cache::kernel_key(emit::without_number(program.name), target_of(options_.architecture),
                                    identity_, text)},
          keeps_launch_bounds(program)};
}

std::string Translator::object(const KernelText& text, const std::string& name) const {
  const bool all = nvrtc_.version() < NEEDED_SINCE;
  const std::string needed = all ? std::string() : needed_headers(text.source);
  const std::vector<Header> headers = all ? headers_ : std::vector<Header>{{ENTRY_HEADER, needed}};
  const auto compiled = [&](const std::string& source) {
    return nvrtc_.compile(source, name, headers, options_);
  };
  const Compiled bounded = compiled(text.source);
  const std::string free =
      bounded.spills && !text.keeps_bound ? without_block_count(text.source) : std::string();
  return free.empty() ? bounded.bytes : compiled(free).bytes;
}

}  // namespace twinloom::cuda
