// See package.h.
#include "core/package/package.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/base/mapped_file.h"
#include "core/graph/arrays.h"
#include "core/package/variants.h"

namespace twinloom::package {

namespace {

using nlohmann::json;

constexpr std::string_view MAGIC = "TWLOOMPK";
constexpr std::size_t ALIGNMENT = 64;  // of pieces: a cache line, and any vector

constexpr std::size_t FRONT = MAGIC.size() + 3 * sizeof(std::uint64_t);  // bytes before the header

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

// With `filler` at its end, so that what comes `more` bytes behind it may be a piece.
std::string padded(std::string bytes, std::size_t more = 0, char filler = '\0') {
  bytes.resize(aligned(bytes.size() + more) - more, filler);
  return bytes;
}

// The pieces so far, and where each lies among them.
struct Pieces {
  std::string bytes;
  json table = json::array();

  std::int64_t keep(std::string_view piece) {
    bytes = padded(std::move(bytes));
    table.push_back({bytes.size(), piece.size()});
    bytes += piece;
    return static_cast<std::int64_t>(table.size()) - 1;
  }
};

// The arrays one after the other, each filled up to a whole number of alignments.
struct Arrays {
  std::string bytes;
  json table = json::array();

  void keep(const graph::Array& array) {
    const std::span<const std::byte> elements = array.bytes.read();
    const std::size_t offset = bytes.size();
    bytes.append(reinterpret_cast<const char*>(elements.data()), elements.size());
    bytes = padded(std::move(bytes));
    table.push_back({{"dtype", ops::name(array.dtype)},
                     {"sizes", array.sizes},
                     {"bytes", elements.size()},
                     {"hash", array.bytes.hash()},
                     {"checksum", hexadecimal(stable_hash_128(std::string_view(bytes).substr(offset)))}});
  }
};

json entries_of(const Contents& contents, std::vector<graph::Content>& arrays, Pieces& pieces) {
  json list = json::array();
  const KeepPiece keep = [&](const std::string& bytes) { return pieces.keep(bytes); };
  for (const Entry& entry : contents.entries) {
    const std::string text = json_of(*entry.variant, arrays, keep).dump();
    list.push_back({{"target", entry.target},
                    {"layouts", json_of(entry.layouts)},
                    {"sizes", json_of(entry.variant->sizes)},
                    {"piece", pieces.keep(text)}});
  }
  return list;
}

}  // namespace

void write_package(const std::filesystem::path& file, const Contents& contents) {
  Pieces pieces;
  std::vector<graph::Content> arrays;
  json header = {{"twinloom", TWINLOOM_VERSION}, {"mode", contents.mode}, {"relaxed", contents.relaxed}};
  header["graph"] = pieces.keep(graph::print(contents.graph, arrays));
  header["entries"] = entries_of(contents, arrays, pieces);
  Arrays kept;
  for (const graph::Content& array : arrays) kept.keep(*array);
  header["arrays"] = std::move(kept.table);
  header["pieces"] = std::move(pieces.table);
  const std::string text = padded(header.dump(), FRONT, ' ');
  const std::string body = padded(std::move(pieces.bytes), checksum_bytes);
  std::string bytes(MAGIC);
  append_number(bytes, format_version);
  append_number(bytes, FRONT + text.size() + body.size() + checksum_bytes);
  append_number(bytes, text.size());
  bytes += text + body;
  bytes += checksum_of(bytes);
  write_whole(file, bytes + kept.bytes);
}

namespace {

// What is kept of an entry until a run asks for its kernels.
struct KeptEntry {
  std::string target;
  lower::Layouts layouts;
  std::string key;  // of the layouts
  loops::SizeClass sizes;
  std::int64_t piece;
};

// The header, and the bytes behind it.
struct Opened {
  json header;
  std::string_view pieces;
  std::string_view arrays;
};

// What the checksum covers of a file whose reader stands behind the format.
std::string_view covered_by_checksum(std::string_view file, ByteReader& reader) {
  const std::uint64_t front = reader.number();
  if (front > file.size()) throw Error("it is cut off");
  const std::string_view covered =
      file.substr(0, std::max<std::uint64_t>(front, checksum_bytes) - checksum_bytes);
  if (covered.size() < FRONT || checksum_of(covered) != file.substr(covered.size(), checksum_bytes))
    throw Error("it is damaged: its checksum is not that of its bytes");
  return covered;
}

Opened opened(std::string_view file) {
  if (file.size() < FRONT + checksum_bytes || !file.starts_with(MAGIC))
    throw Error("it is no package of Twinloom");
  ByteReader reader(file);
  reader.take(MAGIC.size());
  const std::uint64_t format = reader.number();
  if (format != format_version)
    throw Error(cat("it is a package of format ", format, "; this version of Twinloom reads format ",
                    format_version));
  const std::string_view covered = covered_by_checksum(file, reader);
  const std::string_view behind = covered.substr(FRONT);
  const std::string_view text = behind.substr(0, reader.number());
  Opened result{json::parse(text), behind.substr(text.size()), file.substr(covered.size() + checksum_bytes)};
  const auto version = result.header.at("twinloom").get<std::string>();
  if (version != TWINLOOM_VERSION)
    throw Error(cat("it was made by Twinloom ", escaped(version), "; this is ", TWINLOOM_VERSION,
                    ", which runs packages of its own version"));
  return result;
}

}  // namespace

struct Package::State {
  std::filesystem::path file;
  std::shared_ptr<const MappedFile> mapped;
  std::vector<std::string_view> pieces;
  std::vector<graph::Content> arrays;
  graph::Graph graph;
  std::string mode;
  std::vector<std::string> relaxed;
  std::vector<KeptEntry> entries;

  explicit State(const std::filesystem::path& path)
      : file(path), mapped(std::make_shared<const MappedFile>(path)) {
    of_this_file([&] { read(opened(mapped->bytes())); });
  }

  // Runs the work; what it says of bytes that are wrong becomes an Error that names the file.
  template <class Work>
  auto of_this_file(Work&& work) const -> decltype(work()) {
    std::string words;
    try {
      return work();
    } catch (const Error& error) {
      words = error.what();
    } catch (const Bug& broken) {
      words = cat("what it holds is broken: ", broken.what());
    } catch (const json::exception& error) {
      words = cat("what it holds is broken: ", error.what());
    }
    throw Error(cat("'", escaped(file.string()), "': ", words));
  }

  std::string_view piece(std::int64_t number) const {
    if (number < 0 || static_cast<std::size_t>(number) >= pieces.size())
      throw Error(cat("it has ", pieces.size(), " pieces and speaks of piece ", number));
    return pieces[static_cast<std::size_t>(number)];
  }

  void read(const Opened& parts);
  void read_arrays(const json& list, std::string_view bytes);
  std::shared_ptr<const runtime::Variant> loaded(const KeptEntry& entry,
                                                 const runtime::Backend& backend) const;
  std::shared_ptr<const runtime::Variant> find(const runtime::Request& asked,
                                               const runtime::Backend& backend) const;
  std::string missing(const runtime::Request& asked, const runtime::Backend& backend) const;
  std::vector<std::string> targets() const;
};

// They stay where they are in the file; what a run uses is checked when it first does.
void Package::State::read_arrays(const json& list, std::string_view bytes) {
  ByteReader reader(bytes);
  for (const json& about : list) {
    const auto dtype = ops::dtype_named(about.at("dtype").get<std::string_view>());
    if (!dtype) throw Error("an array is of no known type");
    const auto count = about.at("bytes").get<std::size_t>();
    if (count > bytes.size()) throw Error("it is cut off");
    const std::string_view whole = reader.take(aligned(count));
    if (!reader.good()) throw Error("it is cut off");
    const auto check = [whole, named = cat("'", escaped(file.string()), "': its array ", arrays.size()),
                        expected = about.at("checksum").get<std::string>()] {
      if (hexadecimal(stable_hash_128(whole)) != expected)
        throw Error(cat(named, " is damaged: its checksum is not that of its bytes"));
    };
    KeptBytes kept(std::as_bytes(std::span(whole)).first(count), about.at("hash").get<std::uint64_t>(),
                   mapped, check);
    arrays.push_back(std::make_shared<const graph::Array>(
        graph::Array{*dtype, about.at("sizes").get<std::vector<std::int64_t>>(), std::move(kept)}));
  }
  if (!reader.at_end()) throw Error(cat("there are ", reader.rest().size(), " bytes behind its end"));
}

void Package::State::read(const Opened& parts) {
  for (const json& place : parts.header.at("pieces")) {
    const auto offset = place.at(0).get<std::size_t>(), bytes = place.at(1).get<std::size_t>();
    if (offset > parts.pieces.size() || bytes > parts.pieces.size() - offset)
      throw Error(cat("a piece of ", bytes, " bytes lies behind its end"));
    pieces.push_back(parts.pieces.substr(offset, bytes));
  }
  read_arrays(parts.header.at("arrays"), parts.arrays);
  graph = graph::parse(piece(parts.header.at("graph").get<std::int64_t>()), arrays);
  parts.header.at("mode").get_to(mode);
  parts.header.at("relaxed").get_to(relaxed);
  for (const json& entry : parts.header.at("entries")) {
    lower::Layouts layouts = layouts_of(entry.at("layouts"));
    std::string key = runtime::key_of(layouts);
    entries.push_back({entry.at("target").get<std::string>(), std::move(layouts), std::move(key),
                       class_of(entry.at("sizes")), entry.at("piece").get<std::int64_t>()});
  }
}

std::shared_ptr<const runtime::Variant> Package::State::loaded(const KeptEntry& entry,
                                                               const runtime::Backend& backend) const {
  runtime::Variant variant = variant_of(json::parse(piece(entry.piece)), arrays,
                                        [this](std::int64_t number) { return piece(number); });
  variant.sizes = entry.sizes;
  for (runtime::Step& step : variant.steps) {
    step.kernel = backend.load(step.program, step.code);
    step.code.clear();
    step.cached = true;
  }
  return std::make_shared<const runtime::Variant>(std::move(variant));
}

// The best target that the device takes comes first, and of one target what comes first in the file.
std::shared_ptr<const runtime::Variant> Package::State::find(const runtime::Request& asked,
                                                             const runtime::Backend& backend) const {
  if (!asked.zeros.empty()) return nullptr;
  const std::string key = runtime::key_of(asked.layouts);
  for (const std::string& target : backend.targets()) {
    for (const KeptEntry& entry : entries) {
      const bool of_all = entry.sizes.questions.empty();
      const bool fits = of_all || (!asked.sizes.empty() && entry.sizes.holds(asked.sizes));
      if (fits && entry.target == target && entry.key == key)
        return of_this_file([&] { return loaded(entry, backend); });
    }
  }
  return nullptr;
}

std::vector<std::string> Package::State::targets() const {
  std::vector<std::string> targets;
  for (const KeptEntry& entry : entries)
    if (std::ranges::find(targets, entry.target) == targets.end()) targets.push_back(entry.target);
  return targets;
}

std::string Package::State::missing(const runtime::Request& asked, const runtime::Backend& backend) const {
  const auto list = [](const std::vector<std::string>& names) {
    return names.empty() ? "nothing" : join(names, ", ", [](const std::string& name) { return name; });
  };
  const std::string head = cat("the package '", escaped(file.string()), "' has no kernels for ");
  const auto taken = backend.targets();
  const bool has_target = std::ranges::any_of(
      entries, [&](const KeptEntry& entry) { return std::ranges::find(taken, entry.target) != taken.end(); });
  if (!has_target)
    return cat(head, "this device, which runs ", list(taken), "; it has kernels for ", list(targets()));
  if (!asked.zeros.empty()) return cat(head, "the size ", asked.zeros.begin()->first, " = 0");
  std::vector<std::string> layouts;
  for (const KeptEntry& entry : entries) layouts.push_back(entry.key.empty() ? "row-major" : entry.key);
  const std::string given = runtime::key_of(asked.layouts);
  return cat(head, "arguments with the strides ", given.empty() ? "row-major" : given,
             "; it has kernels for ", list(layouts));
}

Package Package::open(const std::filesystem::path& file) {
  return Package(std::make_shared<const State>(file));
}

bool Package::begins(std::string_view bytes) { return bytes.starts_with(MAGIC); }

const graph::Graph& Package::graph() const { return state_->graph; }
const std::string& Package::mode() const { return state_->mode; }
const std::vector<std::string>& Package::relaxed() const { return state_->relaxed; }
const lower::Layouts& Package::layouts() const {
  static const lower::Layouts none;
  return state_->entries.empty() ? none : state_->entries.front().layouts;
}
std::vector<std::string> Package::targets() const { return state_->targets(); }

runtime::Executable Package::executable(std::shared_ptr<const runtime::Backend> backend,
                                        runtime::Executable::Maker fallback) const {
  const runtime::Space* const space = backend->space();
  const auto make = [state = state_, backend = std::move(backend),
                     fallback = std::move(fallback)](const runtime::Request& asked) {
    if (auto variant = state->find(asked, *backend)) return variant;
    if (fallback) return fallback(asked);
    throw Error(state->missing(asked, *backend));
  };
  return {state_->graph, make, space};
}

}  // namespace twinloom::package
