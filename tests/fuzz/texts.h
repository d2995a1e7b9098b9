// Texts of graphs that were changed by chance, token by token, so that many are graphs still.
#pragma once

#include <cstdint>
#include <string>

namespace twinloom::tests {

// `damages` of them, one after the other.
std::string damaged(std::string text, int damages, std::uint64_t seed);

}  // namespace twinloom::tests
