// Archives of arrays, through libzip.
#include <zip.h>

#include <algorithm>
#include <memory>

#include "core/base/error.h"
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

std::string read_entry(zip_t* archive, zip_uint64_t index, const std::string& what, const Limits& limits) {
  zip_stat_t about;
  if (zip_stat_index(archive, index, 0, &about) != 0 || (about.valid & ZIP_STAT_SIZE) == 0) {
    throw Error(cat(what, ": the archive does not say how large it is"));
  }
  if (about.size > static_cast<zip_uint64_t>(limits.bytes)) {
    throw Error(cat(what, ": it asks for ", about.size, " bytes; at most ", limits.bytes, " are read"));
  }
  const std::unique_ptr<zip_file_t, CloseFile> file(zip_fopen_index(archive, index, 0));
  if (!file) throw Error(cat(what, ": ", zip_strerror(archive)));
  // Grown as bytes arrive: an entry that lies about its size costs no more than what it holds.
  std::string bytes;
  constexpr std::size_t piece = 1 << 20;
  while (bytes.size() < about.size) {
    const std::size_t have = bytes.size();
    bytes.resize(have + std::min<std::size_t>(piece, about.size - have));
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
  std::vector<Entry> entries;
  for (zip_uint64_t i = 0; i < count; ++i) {
    const char* given = zip_get_name(archive.get(), i, ZIP_FL_ENC_RAW);
    std::string name = given == nullptr ? "" : given;
    const std::string what = cat("'", escaped(file.string()), "', array '", escaped(name), "'");
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    entries.push_back({name, parse_npy(read_entry(archive.get(), i, what, limits), what, limits)});
  }
  return entries;
}

void write_npz(const std::filesystem::path& file, const std::vector<Entry>& entries) {
  std::vector<std::string> bytes;  // must outlive the archive
  for (const Entry& entry : entries) bytes.push_back(print_npy(entry.tensor));
  std::filesystem::path temporary = file;
  temporary += ".partial";
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
  std::filesystem::rename(temporary, file);
}

}  // namespace twinloom::arrays
