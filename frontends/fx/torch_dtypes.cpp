// See torch_dtypes.h.
#include "frontends/fx/torch_dtypes.h"

#include <map>

namespace twinloom::fx {

std::optional<ops::DType> dtype_of_torch(std::string_view name) {
  static const std::map<std::string_view, ops::DType> types = {
      {"torch.float64", ops::DType::f64},
      {"torch.double", ops::DType::f64},
      {"torch.float32", ops::DType::f32},
      {"torch.float", ops::DType::f32},
      {"torch.float16", ops::DType::f16},
      {"torch.half", ops::DType::f16},
      {"torch.bfloat16", ops::DType::bf16},
      {"torch.int64", ops::DType::i64},
      {"torch.long", ops::DType::i64},
      {"torch.int32", ops::DType::i32},
      {"torch.int", ops::DType::i32},
      {"torch.int16", ops::DType::i16},
      {"torch.int8", ops::DType::i8},
      {"torch.uint8", ops::DType::u8},
      {"torch.uint16", ops::DType::u16},
      {"torch.uint32", ops::DType::u32},
      {"torch.uint64", ops::DType::u64},
      {"torch.bool", ops::DType::b8},
      {"torch.float8_e4m3fn", ops::DType::f8e4m3},
      {"torch.float8_e5m2", ops::DType::f8e5m2},
  };
  const auto found = types.find(name);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace twinloom::fx
