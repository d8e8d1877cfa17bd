#include "formats/urdf/closed_loops.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <fstream>

#include "espalier/kernel/errors.hpp"

// Where it is linked, as in tests.
#pragma weak espalier_read_closed_loops

namespace espalier::formats {

namespace {

/// Files of loops are a page long.
constexpr std::uintmax_t largest_file = 1u << 20;

/// The reader in the plugin for YAML, which stands beside this one: loading yaml-cpp takes a tenth
/// of a program's start, and few robots have such a file.
decltype(&espalier_read_closed_loops) reader(const std::string& file) {
  if (espalier_read_closed_loops != nullptr) return &espalier_read_closed_loops;
  Dl_info here{};
  std::string library = "espalier_yaml.so";
  if (::dladdr(reinterpret_cast<const void*>(&reader), &here) != 0) {
    const std::string path = here.dli_fname;
    library = path.substr(0, path.rfind('/') + 1) + library;
  }
  void* const opened = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const found = opened == nullptr ? nullptr : ::dlsym(opened, "espalier_read_closed_loops");
  if (found == nullptr) {
    throw InvalidModel("closed loops (" + file + "): reader of YAML is missing, expected " +
                       library + " (build or install the plugin espalier_yaml)");
  }
  return reinterpret_cast<decltype(&espalier_read_closed_loops)>(found);
}

}  // namespace

void read_closed_loops(std::string_view text, const std::string& file, Description& robot) {
  // Espalier's own files have no such key; they are not parsed here.
  if (!text.starts_with("closed_loop") && text.find("\nclosed_loop") == std::string::npos) return;
  reader(file)(text, file, robot);
}

void read_closed_loops(const std::string& urdf_file, Description& robot) {
  namespace fs = std::filesystem;
  const fs::path beside = fs::path(urdf_file).replace_extension(".yaml");
  std::error_code error;
  if (!fs::is_regular_file(beside, error) || fs::file_size(beside, error) > largest_file || error) {
    return;
  }
  std::ifstream stream(beside, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)),
                         std::istreambuf_iterator<char>());
  read_closed_loops(text, beside.string(), robot);
}

}  // namespace espalier::formats
