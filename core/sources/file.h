// A file of exported sources.
#pragma once

#include <string>

namespace twinloom::sources {

struct File {
  std::string path;  // below the folder that is written
  std::string bytes;
};

}  // namespace twinloom::sources
