// See dlpack.h. The codes of types are those of DLPack 1.1, some of which earlier headers do not name.
#include "api/c/dlpack.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"

namespace twinloom::c {

namespace {

constexpr std::uint8_t BOOL = 6, FLOAT8_E4M3FN = 10, FLOAT8_E5M2 = 12;
constexpr int MOST_DIMENSIONS = 64;

struct TypeRow {
  ops::DType dtype;
  std::uint8_t code, bits;
};
constexpr std::array<TypeRow, 15> TYPES = {{
    {ops::DType::b8, BOOL, 8},
    {ops::DType::i8, kDLInt, 8},
    {ops::DType::i16, kDLInt, 16},
    {ops::DType::i32, kDLInt, 32},
    {ops::DType::i64, kDLInt, 64},
    {ops::DType::u8, kDLUInt, 8},
    {ops::DType::u16, kDLUInt, 16},
    {ops::DType::u32, kDLUInt, 32},
    {ops::DType::u64, kDLUInt, 64},
    {ops::DType::f16, kDLFloat, 16},
    {ops::DType::bf16, kDLBfloat, 16},
    {ops::DType::f32, kDLFloat, 32},
    {ops::DType::f64, kDLFloat, 64},
    {ops::DType::f8e4m3, FLOAT8_E4M3FN, 8},
    {ops::DType::f8e5m2, FLOAT8_E5M2, 8},
}};

int device_of(const DLDevice& device, std::string_view what) {
  switch (static_cast<int>(device.device_type)) {
    case kDLCPU:
    case kDLCUDAHost:
      return runtime::HOST;
    case kDLCUDA:
    case kDLCUDAManaged:
      return device.device_id;
  }
  throw Error(cat(what, ": lies on DLPack's device type ", static_cast<int>(device.device_type),
                  "; expected kDLCPU (1), kDLCUDA (2), kDLCUDAHost (3) or kDLCUDAManaged (13)"));
}

// What a managed tensor points to.
struct Holder {
  runtime::Tensor tensor;
  DLManagedTensor managed{};
};

void release(DLManagedTensor* managed) { delete static_cast<Holder*>(managed->manager_ctx); }

}  // namespace

runtime::Tensor tensor_of(const DLTensor* tensor, std::string_view what, bool needs_data) {
  if (tensor == nullptr) throw Error(cat(what, ": the tensor is NULL"));
  if (tensor->ndim < 0 || tensor->ndim > MOST_DIMENSIONS)
    throw Error(cat(what, ": has ", tensor->ndim, " dimensions; 0 to ", MOST_DIMENSIONS, " are possible"));
  if (tensor->ndim != 0 && tensor->shape == nullptr) throw Error(cat(what, ": its shape is NULL"));
  std::vector<std::int64_t> sizes(tensor->shape, tensor->shape + tensor->ndim);
  for (const std::int64_t size : sizes)
    if (size < 0) throw Error(cat(what, ": has the size ", size, "; sizes are at least 0"));
  std::vector<std::int64_t> strides = tensor->strides == nullptr
                                          ? runtime::contiguous_strides(sizes)
                                          : std::vector(tensor->strides, tensor->strides + tensor->ndim);
  const bool empty = std::ranges::find(sizes, 0) != sizes.end();
  if (needs_data && tensor->data == nullptr && !empty)
    throw Error(cat(what, ": has elements, and its data is NULL"));
  void* data =
      tensor->data == nullptr ? nullptr : static_cast<std::byte*>(tensor->data) + tensor->byte_offset;
  runtime::Tensor result =
      runtime::view_of(data, dtype_of(tensor->dtype, what), std::move(sizes), std::move(strides));
  result.device = device_of(tensor->device, what);
  return result;
}

DLManagedTensor* managed(const runtime::Tensor& tensor) {
  auto holder = std::make_unique<Holder>();
  holder->tensor = tensor;
  const bool host = tensor.device == runtime::HOST;
  holder->managed.dl_tensor = {.data = tensor.data,
                               .device = {host ? kDLCPU : kDLCUDA, host ? 0 : tensor.device},
                               .ndim = static_cast<int>(tensor.sizes.size()),
                               .dtype = dlpack_type(tensor.dtype),
                               .shape = holder->tensor.sizes.data(),
                               .strides = holder->tensor.strides.data(),
                               .byte_offset = 0};
  holder->managed.manager_ctx = holder.get();
  holder->managed.deleter = release;
  return &holder.release()->managed;
}

ops::DType dtype_of(const DLDataType& type, std::string_view what) {
  const auto row = std::ranges::find_if(
      TYPES, [&](const TypeRow& each) { return each.code == type.code && each.bits == type.bits; });
  if (row == TYPES.end() || type.lanes != 1) {
    throw Error(cat(what, ": DLPack's type with code ", int{type.code}, ", ", int{type.bits}, " bits and ",
                    int{type.lanes},
                    " lanes is not known; known are bool, integers of 8 to 64 bits, floats of 16 to "
                    "64 bits, bfloat16, float8_e4m3fn and float8_e5m2, with 1 lane"));
  }
  return row->dtype;
}

DLDataType dlpack_type(ops::DType dtype) {
  const auto row = std::ranges::find(TYPES, dtype, &TypeRow::dtype);
  if (row == TYPES.end()) throw Error(cat("a tensor of type ", ops::name(dtype), " has no form in DLPack"));
  return {row->code, row->bits, 1};
}

runtime::Tensor host_tensor_of(const DLTensor* tensor, std::string_view what) {
  runtime::Tensor given = tensor_of(tensor, what);
  if (given.device != runtime::HOST)
    throw Error(cat(what, ": lies on a GPU; expected memory of this process"));
  return given;
}

graph::Array array_of(const DLTensor* tensor, std::string_view what) {
  const runtime::Tensor rows = runtime::contiguous(host_tensor_of(tensor, what));
  const auto* bytes = static_cast<const std::byte*>(rows.data);
  const auto count = runtime::element_count(rows) * ops::size_of(rows.dtype);
  return {rows.dtype, rows.sizes, std::vector(bytes, bytes + count)};
}

}  // namespace twinloom::c
