// Arrays in files by the C API. See handles.h.
#include <algorithm>
#include <filesystem>
#include <vector>

#include "api/c/dlpack.h"
#include "api/c/handles.h"
#include "frontends/arrays/arrays.h"

using twinloom::c::checked;
using twinloom::c::guarded;

struct twinloom_arrays {
  std::vector<twinloom::arrays::Entry> entries;
};

namespace {

using twinloom::DType;
using twinloom::arrays::Entry;

// NumPy has no bfloat16: its bits are kept as uint16, under a name that says so.
constexpr std::string_view BF16 = "_bf16";

Entry read_entry(Entry entry) {
  if (!entry.name.ends_with(BF16) || entry.tensor.dtype != DType::u16) return entry;
  entry.name.resize(entry.name.size() - BF16.size());
  entry.tensor.dtype = DType::bf16;
  return entry;
}

Entry written_entry(Entry entry) {
  if (entry.tensor.dtype != DType::bf16) return entry;
  entry.name += BF16;
  entry.tensor.dtype = DType::u16;
  return entry;
}

enum class Form : std::uint8_t { npy, npz };

Form form_of(const std::filesystem::path& file) {
  if (file.extension() == ".npy") return Form::npy;
  if (file.extension() == ".npz") return Form::npz;
  throw twinloom::Error(twinloom::cat("'", twinloom::escaped(file.string()),
                                      "' does not end in .npy or .npz, which say what arrays are kept as"));
}

}  // namespace

twinloom_error* twinloom_arrays_read(const char* path, twinloom_arrays** arrays) {
  return guarded([&] {
    checked(arrays, "arrays");
    const std::filesystem::path file = &checked(path, "path");
    auto read = std::make_unique<twinloom_arrays>();
    if (form_of(file) == Form::npy) {
      read->entries.push_back({"", twinloom::arrays::read_npy(file)});
    } else {
      for (Entry& entry : twinloom::arrays::read_npz(file))
        read->entries.push_back(read_entry(std::move(entry)));
    }
    *arrays = read.release();
  });
}

void twinloom_arrays_free(twinloom_arrays* arrays) { delete arrays; }

size_t twinloom_arrays_count(const twinloom_arrays* arrays) {
  return arrays == nullptr ? 0 : arrays->entries.size();
}

twinloom_error* twinloom_arrays_get(const twinloom_arrays* arrays, size_t number, const char** name,
                                    DLManagedTensor** tensor) {
  return guarded([&] {
    const auto& entries = checked(arrays, "arrays").entries;
    checked(name, "name");
    checked(tensor, "tensor");
    if (number >= entries.size())
      throw twinloom::Error(twinloom::cat("there is no array ", number, "; the file has ", entries.size()));
    *tensor = twinloom::c::managed(entries[number].tensor);
    *name = entries[number].name.c_str();
  });
}

twinloom_error* twinloom_arrays_write(const char* path, const twinloom_named_tensor* tensors, size_t count) {
  return guarded([&] {
    const std::filesystem::path file = &checked(path, "path");
    if (count != 0) checked(tensors, "tensors");
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = &checked(tensors[i].name, twinloom::cat("the name of array ", i));
      entries.push_back(
          written_entry({name, twinloom::c::host_tensor_of(tensors[i].tensor, twinloom::cat("array ", i))}));
    }
    if (form_of(file) == Form::npz) return twinloom::arrays::write_npz(file, entries);
    if (entries.size() != 1)
      throw twinloom::Error(twinloom::cat(count, " arrays were given for an .npy file; it holds 1"));
    twinloom::arrays::write_npy(file, entries.front().tensor);
  });
}
