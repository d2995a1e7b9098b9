// apply_spelled: each row by the function of the device header that its spelling names.
#include "core/ops/arrays.h"
#include "core/ops/device/kernel.h"
#include "core/ops/pointwise.h"

namespace twinloom::ops {

namespace {

constexpr auto tables = std::array{
#define POINTWISE(name, arity, takes, ...)                                                              \
  arrays::arrays_of<decltype([](auto... elements) { return device::name(elements...); }), Takes::takes, \
                    arity>(),
#include "core/ops/pointwise.def"
#undef POINTWISE
};

}  // namespace

void apply_spelled(Pointwise op, DType element, std::span<const void* const> inputs, void* output,
                   std::int64_t count) {
  arrays::apply(tables, op, element, inputs, output, count);
}

}  // namespace twinloom::ops
