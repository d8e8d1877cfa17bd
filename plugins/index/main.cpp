#include <filesystem>
#include <iostream>

#include "espalier/plugins/plugin_index.hpp"

/// espalier_index FILE.so|FOLDER...: writes the indices of plugins, at build and install time.
int main(int count, char** words) {
  namespace fs = std::filesystem;
  for (int k = 1; k < count; ++k) {
    std::error_code error;
    if (!fs::is_directory(words[k], error)) {
      espalier::detail::write_plugin_index(words[k]);
      espalier::detail::write_folder_index(fs::absolute(words[k]).parent_path().string());
      continue;
    }
    for (const auto& entry : fs::directory_iterator(words[k], error)) {
      if (entry.path().extension() == ".so") {
        espalier::detail::write_plugin_index(entry.path().string());
      }
    }
    espalier::detail::write_folder_index(words[k]);
    if (error) {
      std::cerr << words[k] << ": plugin folder is unreadable (" << error.message()
                << "), expected a folder\n";
      return 1;
    }
  }
}
