// See device_text.h.
#include "backends/cuda/device_text.h"

#include "backends/cuda/declarations.h"
#include "core/ops/device_text.h"

namespace twinloom::cuda {

std::vector<Header> all_headers() {
  std::vector<Header> headers = cuda_headers();
  // NVRTC does not look beside the file that includes another: neighbours go by their file names, and the
  // one that other folders include by its path.
  constexpr std::string_view folder = "device/", entry = "device/kernel.h";
  for (const ops::DeviceHeader& header : ops::device_headers())
    headers.push_back(
        {std::string(header.path == entry ? entry : header.path.substr(folder.size())), header.text});
  for (const auto& more : {abi_headers(), table_headers()})
    headers.insert(headers.end(), more.begin(), more.end());
  return headers;
}

std::string needed_headers(std::string_view text) {
  static const Declarations declarations(flat_headers());
  return declarations.needed_by(text);
}

}  // namespace twinloom::cuda
