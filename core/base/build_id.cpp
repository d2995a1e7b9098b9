// See build_id.h. The ID is an ELF note that is loaded with the code.
#include "core/base/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <string_view>

#include "core/base/text.h"

namespace twinloom {

namespace {

constexpr std::size_t NOTE_ALIGNMENT = 4;
constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + NOTE_ALIGNMENT - 1) / NOTE_ALIGNMENT * NOTE_ALIGNMENT;
}

std::string hexadecimal_of(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += {digits[value / 16], digits[value % 16]};
  }
  return text;
}

// Of the notes of one segment.
std::string id_among(std::string_view notes) {
  constexpr std::string_view owner{"GNU", 4};
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    const auto& note = *reinterpret_cast<const ElfW(Nhdr)*>(notes.data());
    const std::size_t name = aligned(note.n_namesz), bytes = aligned(note.n_descsz);
    notes.remove_prefix(sizeof(ElfW(Nhdr)));
    if (name > notes.size() || bytes > notes.size() - name) break;
    if (note.n_type == NT_GNU_BUILD_ID && notes.substr(0, note.n_namesz) == owner)
      return hexadecimal_of(notes.substr(name, note.n_descsz));
    notes.remove_prefix(name + bytes);
  }
  return {};
}

struct Search {
  std::uintptr_t address;  // of this code
  std::string id;
};

// Called with each file that is loaded; not 0 ends the search.
int look_into(dl_phdr_info* info, std::size_t, void* given) {
  Search& search = *static_cast<Search*>(given);
  bool is_ours = false;
  std::string id;
  for (int at = 0; at < info->dlpi_phnum; ++at) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[at];
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD) is_ours |= search.address - begin < segment.p_memsz;
    if (segment.p_type == PT_NOTE && id.empty())
      id = id_among({reinterpret_cast<const char*>(begin), segment.p_memsz});
  }
  if (is_ours) search.id = id;
  return is_ours ? 1 : 0;
}

}  // namespace

const std::string& build_id() {
  static const std::string found = [] {
    Search search{reinterpret_cast<std::uintptr_t>(&look_into), {}};
    dl_iterate_phdr(look_into, &search);
    return search.id;
  }();
  return found;
}

}  // namespace twinloom
