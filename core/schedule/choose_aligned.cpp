// Whether rows that begin between words of memory are walked from word to word.
#include "core/schedule/aligned_rows.h"
#include "core/schedule/schedule.h"

namespace twinloom::schedule {

loops::Program choose_aligned(const loops::Program& nest, Choices& choices) {
  if (choices.machine().max_threads == 1 || loops::routine_of(nest) != nullptr) return nest;
  loops::Program aligned = with_aligned_rows(nest);
  if (aligned.body == nest.body) return nest;
  return choices.chosen_seconds(aligned) < choices.chosen_seconds(nest) ? aligned : nest;
}

}  // namespace twinloom::schedule
