// See translate.h.
#include "backends/cpu/translate.h"

#include <string_view>

#include "core/base/text.h"
#include "core/emit/emit.h"

namespace twinloom::cpu {

namespace {

// Each line of the compiler's identity is a name and its text.
void append_identity(object_cache::Key& key, std::string_view identity) {
  while (!identity.empty()) {
    const std::size_t end = std::min(identity.find('\n'), identity.size());
    const std::string_view line = identity.substr(0, end);
    const std::size_t space = std::min(line.find(' '), line.size());
    key.push_back(
        {std::string(line.substr(0, space)), std::string(line.substr(std::min(space + 1, line.size())))});
    identity.remove_prefix(std::min(end + 1, identity.size()));
  }
}

}  // namespace

Translator::Translator(const Isa& isa, const std::string& dump_directory)
    : target_(cat("cpu ", isa.name)),
      compiler_(isa.target, all_headers(), prelude(), dump_directory, precompiled_prelude(isa)) {}

KernelText Translator::text(const loops::Program& program) const {
  KernelText text{emit::emit(program, dialect_, loops::print(program)), {}};
  text.key = {{object_cache::kernel_field, program.name},
              {object_cache::target_field, target_},
              {"twinloom", TWINLOOM_VERSION}};
  append_identity(text.key, compiler_.identity());
  text.key.push_back({"source", text.source});
  return text;
}

jit::Object Translator::object(const KernelText& text, const std::string& name) const {
  return compiler_.compile(text.source, name);
}

}  // namespace twinloom::cpu
