// See translate.h.
#include "backends/cuda/translate.h"

#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/emit/emit.h"

namespace twinloom::cuda {

Translator::Translator(const std::string& architecture)
    : options_{architecture, {}}, headers_(all_headers()) {}

KernelText Translator::text(const loops::Program& program) const {
  KernelText text{emit::emit(program, dialect_, loops::print(program)), {}};
  std::uint64_t headers = 0;
  for (const Header& header : headers_)
    headers = mix_hash(mix_hash(headers, stable_hash(header.path)), stable_hash(header.text));
  text.key = {{object_cache::kernel_field, program.name},
              {object_cache::target_field, cat("cuda ", options_.architecture)},
              {"compiler", nvrtc_.identity()},
              {"headers", cat(headers)},
              {"source", text.source}};
  return text;
}

std::string Translator::object(const KernelText& text, const std::string& name) const {
  return nvrtc_.compile(text.source, name, headers_, options_).bytes;
}

}  // namespace twinloom::cuda
