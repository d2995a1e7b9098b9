// See translate.h.
#include "backends/cpu/translate.h"

#include "backends/cpu/load.h"
#include "core/base/build_id.h"
#include "core/emit/emit.h"
#include "core/emit/names.h"

namespace twinloom::cpu {

Translator::Translator(const Isa& isa, const std::string& dump_directory)
    : target_(target_of(isa)),
      compiler_(isa.target, all_headers(), prelude(), dump_directory, precompiled_prelude(isa)) {}

KernelText Translator::text(const loops::Program& program) const {
  const std::string text = emit::emit(program, dialect_);
  return {emit::commented(loops::print(program), text),
          object_cache::kernel_key(emit::without_number(program.name), target_, compiler_.identity(), text)};
}

std::optional<object_cache::Key> Translator::key(const loops::Program& program) const {
  if (build_id().empty()) return std::nullopt;
  loops::Program unnumbered = program;
  unnumbered.name = emit::without_number(program.name);
  return object_cache::Key{{object_cache::shortcut_field, unnumbered.name},
                           {object_cache::target_field, target_},
                           {"build", build_id()},
                           {"program", loops::print(unnumbered)}};
}

jit::Object Translator::object(const KernelText& text, const std::string& name) const {
  return compiler_.compile(text.source, name);
}

}  // namespace twinloom::cpu
