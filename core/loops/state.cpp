// The arrays of a run. See state.h.
#include "core/loops/state.h"

#include "core/base/error.h"
#include "core/loops/rewrite.h"

namespace twinloom::loops {

namespace {

constexpr std::byte poison{0xff};  // NaN as a float, -1 as an integer

// Nests, and programs for one thread, share nothing.
bool has_members(const Program& program) {
  bool found = false;
  for_each_stmt(*program.body, [&](const Stmt& stmt) {
    const auto* loop = std::get_if<Loop>(&stmt.node);
    found = found || (loop != nullptr && (loop->bind == Bind::block || loop->bind == Bind::thread));
  });
  return found;
}

}  // namespace

std::vector<Array> arrays_of(const Program& program, std::span<const Memory> arguments) {
  std::vector<Array> arrays;
  const bool members = has_members(program);
  for (const BufferInfo& info : program.buffers) {
    Array array;
    array.name = info.name;
    array.dtype = info.dtype;
    array.local = info.local;
    if (!info.local) {
      CHECK(arrays.size() < arguments.size(), program.name, " is given ", arguments.size(), " arguments");
      array.memory = arguments[arrays.size()];
      array.shared = members && info.written;
      if (array.shared) array.touches.start(array.memory.first, array.memory.last);
    }
    arrays.push_back(std::move(array));
  }
  return arrays;
}

std::byte* State::element(std::size_t place, std::int64_t offset, Access access, const std::string& where) {
  Array& array = arrays.at(place);
  const std::int64_t size = ops::size_of(array.dtype);
  const std::int64_t first = array.local ? 0 : array.memory.first;
  const std::int64_t last = array.local ? array.count : array.memory.last;
  CHECK(offset >= first && offset < last, where, " touches element ", offset, " of ", array.name,
        ", which has the elements from ", first, " to below ", last);
  if (array.shared) array.touches.add(offset, access, threads, moment, where);
  if (!array.local) return static_cast<std::byte*>(array.memory.data) + offset * size;
  CHECK(!array.each_thread || threads.count == 1, where, " is of ", threads.count,
        " threads, with registers each");
  auto& bytes = array.of_thread[array.each_thread ? threads.first : 0];
  if (bytes.empty()) bytes.assign(static_cast<std::size_t>(array.count * size), poison);
  return bytes.data() + offset * size;
}

}  // namespace twinloom::loops
