// See kept.h.
#include "core/pipeline/kept.h"

#include "core/base/build_id.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/base/mapped_file.h"
#include "core/graph/arrays.h"
#include "core/object_cache/object_cache.h"
#include "core/package/variants.h"
#include "core/runtime/layout.h"

namespace twinloom::pipeline {

namespace {

using nlohmann::json;

bool can_be_kept(const Options& options) {
  return options.cache != nullptr && !build_id().empty() && !options.schedule && !options.limits &&
         options.tuning.tries == 0 && options.tuning.folder.empty();
}

std::string options_text(const Options& options) {
  std::string text(name(options.mode));
  for (const graph::Relaxation each : graph::all_relaxations())
    if (options.relaxes(each)) text += cat(" ", graph::name(each));
  if (options.row_major_results) text += " row_major";
  if (!options.made_once) text += " each_run";
  return options.fuse ? text : text + " unfused";
}

std::string array_text(const graph::Array& array) {
  const std::span<const std::byte> bytes = array.bytes.read();
  const std::string_view read(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string sizes = join(array.sizes, ",", [](std::int64_t size) { return cat(size); });
  const std::string hash = hexadecimal(stable_hash_128(read));
  unload(bytes);  // of a file: kernels bring in what they read
  return cat(ops::name(array.dtype), "[", sizes, "] ", hash, "\n");
}

// Up to the end of the line, which is taken off; all where there is no further line.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

loops::SizeClass class_in(std::string_view payload) {
  return package::class_of(json::parse(next_line(payload)));
}

// Arrays that passes have made: their types and sizes, and their bytes one after the other.
struct MadeArrays {
  json table = json::array();
  std::string bytes;
};

MadeArrays kept_arrays(std::span<const graph::Content> arrays) {
  MadeArrays made;
  for (const graph::Content& array : arrays) {
    const std::span<const std::byte> bytes = array->bytes.read();
    made.table.push_back({ops::name(array->dtype), array->sizes});
    made.bytes.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return made;
}

void read_arrays(const json& table, std::string_view bytes, std::vector<graph::Content>& arrays) {
  for (const json& one : table) {
    const auto dtype = ops::dtype_named(one.at(0).get<std::string>());
    const auto sizes = one.at(1).get<std::vector<std::int64_t>>();
    if (!dtype) throw Error("an array of no type");
    std::size_t size = static_cast<std::size_t>(ops::size_of(*dtype));
    for (const std::int64_t each : sizes) {
      if (each < 0 || (each > 0 && size > bytes.size() / static_cast<std::size_t>(each)))
        throw Error("an array is cut off");
      size *= static_cast<std::size_t>(each);
    }
    const auto read = std::as_bytes(std::span(bytes.substr(0, size)));
    arrays.push_back(std::make_shared<const graph::Array>(
        graph::Array{*dtype, sizes, std::vector<std::byte>(read.begin(), read.end())}));
    bytes.remove_prefix(size);
  }
}

}  // namespace

KeptVariants::KeptVariants(const runtime::Request& asked, const runtime::Backend& backend,
                           const Options& options)
    : asked_(asked) {
  if (!can_be_kept(options) || backend.targets().empty()) return;
  cache_ = options.cache.get();
  is_heard_ = logging::is_on(Log::fusion) || logging::is_on(Log::schedule);
  const std::string text = graph::print(asked.graph, arrays_);
  std::string arrays;
  for (const graph::Content& array : arrays_) arrays += array_text(*array);
  const std::string zeros = join(asked.zeros, " ", [](const auto& zero) { return cat(zero.first.name()); });
  key_ = {{object_cache::graph_field, asked.graph.name},
          {object_cache::target_field, backend.targets().front()},
          {"build", build_id()},
          {"machine", machine::print(backend.machine())},
          {"options", options_text(options)},
          {"layouts", runtime::key_of(asked.layouts)},
          {"zeros", zeros},
          {"arrays", arrays},
          {object_cache::source_field, text}};
}

std::size_t KeptVariants::most_entries() const {
  return asked_.sizes.empty() ? 1 : runtime::Executable::most_size_classes;
}

object_cache::Key KeptVariants::key_of_entry(std::size_t number) const {
  object_cache::Key key = key_;
  key.push_back({"class", asked_.sizes.empty() ? "all" : cat(number)});
  return key;
}

// Whether the run that was asked for may use it.
bool KeptVariants::is_of_class(const std::string& payload) const {
  return asked_.sizes.empty() || class_in(payload).holds(asked_.sizes);
}

runtime::Variant KeptVariants::read(const std::string& payload) const {
  const auto no_piece = [](std::int64_t) -> std::string_view {
    throw Error("there is no machine code here");
  };
  std::string_view rest = payload;
  next_line(rest);
  const json table = json::parse(next_line(rest)), text = json::parse(next_line(rest));
  std::vector<graph::Content> arrays = arrays_;
  read_arrays(table, rest, arrays);
  runtime::Variant variant = package::variant_of(text, arrays, no_piece);
  variant.sizes = class_in(payload);
  return variant;
}

std::optional<runtime::Variant> KeptVariants::find() const {
  if (cache_ == nullptr || is_heard_) return std::nullopt;
  for (std::size_t number = 0; number < most_entries(); ++number) {
    const object_cache::Key key = key_of_entry(number);
    const std::optional<std::string> payload = cache_->find(key);
    if (!payload) break;
    try {
      if (is_of_class(*payload)) return read(*payload);
      continue;
    } catch (const Error&) {
    } catch (const Bug&) {
    } catch (const json::exception&) {
    }
    // Only who runs as this user can keep such bytes under the key; the next ones are our own.
    cache_->remove(key);
    break;
  }
  return std::nullopt;
}

// Another process may have kept it meanwhile.
void KeptVariants::keep(const runtime::Variant& variant) const {
  if (cache_ == nullptr) return;
  std::vector<graph::Content> arrays = arrays_;
  const auto no_piece = [](const std::string&) -> std::int64_t {
    CHECK(false, "a variant with machine code is kept in packages");
    return 0;
  };
  const std::string text = package::json_of(variant, arrays, no_piece).dump();
  // A later process hands in those of the graph.
  const MadeArrays made = kept_arrays(std::span(arrays).subspan(arrays_.size()));
  for (std::size_t number = 0; number < most_entries(); ++number) {
    const object_cache::Key key = key_of_entry(number);
    const std::optional<std::string> other = cache_->find(key);
    if (!other)
      return cache_->store(key, cat(package::json_of(variant.sizes).dump(), "\n", made.table.dump(), "\n",
                                    text, "\n", made.bytes));
    if (is_of_class(*other)) return;
  }
}

}  // namespace twinloom::pipeline
