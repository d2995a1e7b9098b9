// Archives of arrays, through libzip.
#include <zip.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/base/memory.h"
#include "frontends/arrays/arrays.h"

namespace twinloom::arrays {

namespace {

struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseFile {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, CloseArchive>;

std::string words_of(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string words = zip_error_strerror(&error);
  zip_error_fini(&error);
  return words;
}

Archive open_archive(const std::filesystem::path& file, int flags) {
  int code = 0;
  Archive archive(zip_open(file.c_str(), flags, &code));
  if (!archive)
    throw Error(cat("cannot open '", escaped(file.string()), "' as an .npz archive: ", words_of(code)));
  return archive;
}

std::int64_t declared_bytes(zip_t* archive, zip_uint64_t index, const std::string& what) {
  zip_stat_t about;
  if (zip_stat_index(archive, index, 0, &about) != 0 || (about.valid & ZIP_STAT_SIZE) == 0)
    throw Error(cat(what, ": the archive does not say how large it is"));
  if (about.size > static_cast<zip_uint64_t>(std::numeric_limits<std::int64_t>::max()))
    throw Error(cat(what, ": the archive says that it has ", about.size, " bytes"));
  return static_cast<std::int64_t>(about.size);
}

std::string name_of(zip_t* archive, zip_uint64_t index) {
  const char* name = zip_get_name(archive, index, ZIP_FL_ENC_RAW);
  return name == nullptr ? "" : name;
}

std::string words_for(const std::filesystem::path& file, const std::string& name) {
  return cat("'", escaped(file.string()), "', array '", escaped(name), "'");
}

// What all arrays say that they have, against what the archive can hold and the machine has left.
void check_total(zip_t* archive, zip_uint64_t count, const std::filesystem::path& file,
                 const Limits& limits) {
  std::optional<std::int64_t> total = 0;
  std::int64_t largest = 0;
  for (zip_uint64_t i = 0; i < count && total; ++i) {
    const std::int64_t bytes = declared_bytes(archive, i, words_for(file, name_of(archive, i)));
    total = checked_add(*total, bytes);
    largest = std::max(largest, bytes);
  }
  const auto held = static_cast<std::int64_t>(std::filesystem::file_size(file));
  const std::int64_t most = std::max(limits.small, checked_multiply(limits.growth, held).value_or(held));
  if (!total || *total > most)
    throw Error(cat("'", escaped(file.string()), "' has ", held, " bytes and asks for ",
                    total ? cat(*total) : "more than 64 bits count", "; at most ", most, " are read"));
  const std::int64_t available = available_memory();
  if (*total > available - largest)
    throw Error(
        cat("'", escaped(file.string()), "' asks for ", *total, " bytes; ", available, " are available"));
}

std::string read_entry(zip_t* archive, zip_uint64_t index, const std::string& what, const Limits& limits) {
  const std::int64_t declared = declared_bytes(archive, index, what);
  if (declared > limits.bytes)
    throw Error(cat(what, ": it asks for ", declared, " bytes; at most ", limits.bytes, " are read"));
  const auto size = static_cast<std::size_t>(declared);
  const std::unique_ptr<zip_file_t, CloseFile> file(zip_fopen_index(archive, index, 0));
  if (!file) throw Error(cat(what, ": ", zip_strerror(archive)));
  // Grown as bytes arrive: an entry that lies about its size costs no more than what it holds.
  std::string bytes;
  constexpr std::size_t piece = 1 << 20;
  while (bytes.size() < size) {
    const std::size_t have = bytes.size();
    bytes.resize(have + std::min<std::size_t>(piece, size - have));
    const zip_int64_t got = zip_fread(file.get(), bytes.data() + have, bytes.size() - have);
    if (got <= 0) throw Error(cat(what, ": the archive is damaged or ends too early"));
    bytes.resize(have + static_cast<std::size_t>(got));
  }
  char past_the_end = 0;  // reading on makes libzip compare the checksum
  if (zip_fread(file.get(), &past_the_end, 1) != 0) throw Error(cat(what, ": its checksum is wrong"));
  return bytes;
}

}  // namespace

std::vector<Entry> read_npz(const std::filesystem::path& file, const Limits& limits) {
  const Archive archive = open_archive(file, ZIP_RDONLY);
  const auto count =
      static_cast<zip_uint64_t>(std::max<zip_int64_t>(0, zip_get_num_entries(archive.get(), 0)));
  if (count > limits.entries)
    throw Error(cat("'", escaped(file.string()), "' holds ", count, " arrays; at most ", limits.entries,
                    " are read"));
  check_total(archive.get(), count, file, limits);
  std::vector<Entry> entries;
  for (zip_uint64_t i = 0; i < count; ++i) {
    std::string name = name_of(archive.get(), i);
    const std::string what = words_for(file, name);
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    entries.push_back({name, parse_npy(read_entry(archive.get(), i, what, limits), what, limits)});
  }
  return entries;
}

namespace {

// The end of a directory without entries: libzip makes no file of nothing.
void write_empty(const std::filesystem::path& file) {
  std::string bytes("PK\5\6");
  bytes.resize(22, '\0');
  std::ofstream stream(file, std::ios::binary);
  if (!(stream << bytes).flush()) throw Error(cat("cannot write '", escaped(file.string()), "'"));
}

void write_entries(const std::filesystem::path& file, const std::filesystem::path& temporary,
                   const std::vector<Entry>& entries) {
  std::vector<std::string> bytes;  // must outlive the archive
  for (const Entry& entry : entries) bytes.push_back(print_npy(entry.tensor));
  Archive archive = open_archive(temporary, ZIP_CREATE | ZIP_TRUNCATE);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    zip_source_t* source = zip_source_buffer(archive.get(), bytes[i].data(), bytes[i].size(), 0);
    const zip_int64_t added =
        source == nullptr
            ? -1
            : zip_file_add(archive.get(), (entries[i].name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (added < 0) {
      zip_source_free(source);
      throw Error(cat("cannot write '", escaped(file.string()), "': ", zip_strerror(archive.get())));
    }
    zip_set_file_compression(archive.get(), static_cast<zip_uint64_t>(added), ZIP_CM_STORE, 0);
  }
  zip_t* raw = archive.release();
  if (zip_close(raw) != 0) {
    const std::string words = zip_strerror(raw);
    zip_discard(raw);
    throw Error(cat("cannot write '", escaped(file.string()), "': ", words));
  }
}

}  // namespace

void write_npz(const std::filesystem::path& file, const std::vector<Entry>& entries) {
  std::filesystem::path temporary = file;
  temporary += ".partial";
  if (entries.empty())
    write_empty(temporary);
  else
    write_entries(file, temporary, entries);
  std::filesystem::rename(temporary, file);
}

}  // namespace twinloom::arrays
