#include "cli/version.hpp"

#include <spdlog/fmt/fmt.h>

#include "cli/table.hpp"
#include "espalier/host/espalier.hpp"
#include "espalier/plugins/instruction_set.hpp"
#include "espalier_commit.hpp"

namespace espalier::cli {

std::string version_text(const std::vector<std::string>& plugin_folders) {
  const Host host(Host::Options{plugin_folders, true});
  Table plugins({"plugin", "version", "instruction set", "file"});
  for (const LoadedPlugin& p : host.loader().loaded()) {
    plugins.row({p.name, p.version, p.instruction_set, p.file});
  }
  return fmt::format("espalier {}\ncommit {}\ncompiler {}, {}\nprocessor up to {}\n\n{}",
                     ESPALIER_VERSION, ESPALIER_COMMIT, ESPALIER_COMPILER, ESPALIER_BUILD_KIND,
                     to_string(detail::processor_instruction_set()), plugins.text(Table::screen));
}

}  // namespace espalier::cli
