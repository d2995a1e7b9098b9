// See arguments.h.
#include "api/c/arguments.h"

#include "api/c/dlpack.h"

namespace twinloom::c {

std::vector<Argument> arguments_of(const twinloom_value* values, std::size_t count, bool need_data) {
  if (count != 0) checked(values, "arguments");
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < count; ++i) {
    switch (values[i].kind) {
      case TWINLOOM_TENSOR:
        arguments.emplace_back(tensor_of(values[i].as.tensor, cat("argument ", i), need_data));
        continue;
      case TWINLOOM_SIZE:
        arguments.emplace_back(values[i].as.size);
        continue;
      case TWINLOOM_MANAGED: {
        const DLManagedTensor& managed = checked(values[i].as.managed, cat("argument ", i));
        arguments.emplace_back(tensor_of(&managed.dl_tensor, cat("argument ", i), need_data));
        continue;
      }
      case TWINLOOM_NONE:
        break;
    }
    throw Error(cat("argument ", i, " is of kind ", values[i].kind,
                    "; expected TWINLOOM_TENSOR (1), TWINLOOM_SIZE (2) or TWINLOOM_MANAGED (3)"));
  }
  return arguments;
}

}  // namespace twinloom::c
