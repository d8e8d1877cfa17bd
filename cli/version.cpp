#include "cli/version.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "cli/output/table.hpp"
#include "espalier/host/espalier.hpp"
#include "espalier/plugins/loader.hpp"
#include "espalier/plugins/processor/instruction_set.hpp"
#include "espalier_commit.hpp"

namespace espalier::cli {

std::string version_text(const std::vector<std::string>& plugin_folders) {
  const Host host(Host::Options{plugin_folders, true});
  Table plugins({"plugin", "version", "instruction set", "file"});
  std::vector<std::string> folders;  // below the table: a path is as wide as it is
  for (const LoadedPlugin& p : host.loader().loaded()) {
    const std::size_t name = p.file.find_last_of('/') + 1;
    plugins.row({p.name, p.version, p.instruction_set, p.file.substr(name)});
    const std::string folder = p.file.substr(0, name);
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) {
      folders.push_back(folder);
    }
  }
  return fmt::format("espalier {}\ncommit {}\ncompiler {}, {}\nprocessor up to {}\n\n{}\nin {}",
                     ESPALIER_VERSION, ESPALIER_COMMIT, ESPALIER_COMPILER, ESPALIER_BUILD_KIND,
                     to_string(detail::processor_instruction_set()), plugins.text(Table::screen),
                     fmt::join(folders, "\n   "));
}

}  // namespace espalier::cli
