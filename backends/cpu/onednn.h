// oneDNN 3 by its C API, opened at run time. It computes with the threads of OpenMP, as kernels do.
//
// Where it is looked for: TWINLOOM_ONEDNN, a file or a folder (0: it is not used); twinloom-onednn-3 in the
// user's cache, where tools/install_packages puts it; lib below VIRTUAL_ENV, CONDA_PREFIX and ~/.local, where
// pip puts the wheel onednn-cpu-gomp; the system's folders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace twinloom::cpu {

// The file, if there is one. Nothing of it is opened.
const std::optional<std::string>& onednn_path();

// As its C API has them; every handle is a pointer to something that its library keeps.
namespace onednn {

using Status = int;  // 0: success
using Handle = void*;
using Numbers = const std::int64_t*;
struct Argument {
  int number;
  Handle memory;
};

constexpr int CPU = 1, STREAM_IN_ORDER = 1, ANY_LAYOUT = 1, FORWARD_INFERENCE = 96, CONVOLUTION_AUTO = 3;
constexpr int RELU = 0x20, LINEAR = 0x26, CLIP = 0x2e, ROUND = 0x32, HARD_SWISH = 0x34;  // of one element
constexpr int ADD = 0x1fff0, MULTIPLY = 0x1fff1, SUBTRACT = 0x1fff5;       // of two
constexpr int QUERY_IMPLEMENTATION = 8, QUERY_STRIDES = 14, QUERY_DIMENSION_COUNT = 256,
              QUERY_DIMENSIONS = 257, QUERY_TYPE = 258;
constexpr int QUERY_SOURCE = 129, QUERY_WEIGHTS = 131, QUERY_DESTINATION = 133, QUERY_SCRATCHPAD = 136;
constexpr int SOURCE = 1, DESTINATION = 17, WEIGHTS = 33, BIAS = 41, SCRATCHPAD = 80;  // of Argument::number
constexpr int SAME_TYPE = 0, F16 = 1, BF16 = 2, F32 = 3, S32 = 4, S8 = 5, U8 = 6;      // types
constexpr unsigned HAS_INTEGER_PRODUCTS = 0x48;  // of get_effective_cpu_isa: VNNI of AVX-512 or of AVX2
constexpr std::size_t MOST_DIMENSIONS = 12;
// Of Argument::number: what is subtracted from an operand's elements, one i32.
constexpr int zero_point_of(int operand) { return 8192 | operand; }
// Of Argument::number: the second operand of a step behind the result, counted from 0.
constexpr int operand_of_post_op(std::size_t number) { return 32768 * (static_cast<int>(number) + 1) + 2; }

// name, C function, result, parameters
#define TWINLOOM_ONEDNN_FUNCTIONS(ROW)                                                                 \
  ROW(engine_create, Status, (Handle*, int, std::size_t))                                              \
  ROW(stream_create, Status, (Handle*, Handle, unsigned))                                              \
  ROW(stream_wait, Status, (Handle))                                                                   \
  ROW(stream_destroy, Status, (Handle))                                                                \
  ROW(memory_desc_create_with_strides, Status, (Handle*, int, Numbers, int, Numbers))                  \
  ROW(memory_desc_create_with_tag, Status, (Handle*, int, Numbers, int, int))                          \
  ROW(memory_desc_create_submemory, Status, (Handle*, Handle, Numbers, Numbers))                       \
  ROW(memory_desc_query, Status, (Handle, int, void*))                                                 \
  ROW(memory_desc_clone, Status, (Handle*, Handle))                                                    \
  ROW(memory_desc_destroy, Status, (Handle))                                                           \
  ROW(memory_desc_equal, int, (Handle, Handle))                                                        \
  ROW(memory_desc_get_size, std::size_t, (Handle))                                                     \
  ROW(memory_create, Status, (Handle*, Handle, Handle, void*))                                         \
  ROW(memory_set_data_handle, Status, (Handle, void*))                                                 \
  ROW(memory_destroy, Status, (Handle))                                                                \
  ROW(matmul_primitive_desc_create, Status, (Handle*, Handle, Handle, Handle, Handle, Handle, Handle)) \
  ROW(convolution_forward_primitive_desc_create, Status,                                               \
      (Handle*, Handle, int, int, Handle, Handle, Handle, Handle, Numbers, Numbers, Numbers, Numbers,  \
       Handle))                                                                                        \
  ROW(reorder_primitive_desc_create, Status, (Handle*, Handle, Handle, Handle, Handle, Handle))        \
  ROW(primitive_attr_create, Status, (Handle*))                                                        \
  ROW(primitive_attr_set_scratchpad_mode, Status, (Handle, int))                                       \
  ROW(primitive_attr_set_post_ops, Status, (Handle, Handle))                                           \
  ROW(primitive_attr_set_zero_points_mask, Status, (Handle, int, int))                                 \
  ROW(get_effective_cpu_isa, unsigned, ())                                                             \
  ROW(primitive_attr_destroy, Status, (Handle))                                                        \
  ROW(post_ops_create, Status, (Handle*))                                                              \
  ROW(post_ops_append_eltwise, Status, (Handle, int, float, float))                                    \
  ROW(post_ops_append_binary, Status, (Handle, int, Handle))                                           \
  ROW(post_ops_append_sum, Status, (Handle, float, std::int32_t, int))                                 \
  ROW(post_ops_destroy, Status, (Handle))                                                              \
  ROW(primitive_desc_query, Status, (Handle, int, int, void*))                                         \
  ROW(primitive_desc_query_md, Handle, (Handle, int, int))                                             \
  ROW(primitive_desc_destroy, Status, (Handle))                                                        \
  ROW(primitive_create, Status, (Handle*, Handle))                                                     \
  ROW(primitive_execute, Status, (Handle, Handle, int, const Argument*))                               \
  ROW(primitive_destroy, Status, (Handle))

struct Functions {
#define TWINLOOM_ROW(name, result, parameters) result(*name) parameters = nullptr;
  TWINLOOM_ONEDNN_FUNCTIONS(TWINLOOM_ROW)
#undef TWINLOOM_ROW
  Handle engine = nullptr;
  // Of all primitives: who runs one hands it its scratchpad. One of the library's own belongs to the thread
  // that made the primitive, and to no other.
  Handle attributes = nullptr;
};

// Opened at the first call, for this process. Error where it cannot be.
const Functions& functions();

// Error with `what` where it is none.
void check(Status status, const char* what);

// Handles that end with their owner.
using Owned = std::shared_ptr<void>;
Owned described(const std::vector<std::int64_t>& dims, int dtype, const std::vector<std::int64_t>& strides);
Owned described_in_any_layout(const std::vector<std::int64_t>& dims, int dtype);
Owned memory_at(Handle description, void* address);
struct Primitive {
  Owned handle;
  Owned scratchpad;  // its description
  std::size_t scratchpad_bytes = 0;
};
// Attributes of a primitive with the scratchpad by the caller.
Owned new_attributes();
// Takes the description of a primitive, and ends it.
Primitive primitive_of(Handle primitive_desc);
// Copies memory of one description to that of another.
Primitive reorder_of(Handle from, Handle to);

}  // namespace onednn
}  // namespace twinloom::cpu
