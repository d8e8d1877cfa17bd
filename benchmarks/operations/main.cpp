// Counts the operations of the algorithms for the inverse operational-space inertia on the
// mechanisms of the papers. See docs/operations.md.
//
//   espalier_bench_operations [--markdown FILE] [--svg FOLDER] [--csv FILE] [--check FILE]

#include <CLI/CLI.hpp>
#include <cstdio>

#include "benchmarks/markdown.hpp"
#include "benchmarks/operations/report.hpp"
#include "benchmarks/program.hpp"

namespace espalier::bench {

namespace {

int run(int count, char** words) {
  CLI::App app("Operations of the algorithms for the inverse operational-space inertia");
  std::string markdown_file, svg_folder, csv_file, check_file;
  app.add_option("--markdown", markdown_file,
                 "file in which the tables are written between <!-- claims:begin --> and "
                 "<!-- claims:end -->, likewise stem, humanoids, asimo, phases and growth");
  app.add_option("--svg", svg_folder, "folder for the plots operations_*.svg");
  app.add_option("--csv", csv_file, "file for all counts");
  app.add_option("--check", check_file, "file whose tables must be these, or the status is 1");
  CLI11_PARSE(app, count, words);

  const Host host;
  const Study counted = study(host, [](const std::string& what) {
    std::fprintf(stderr, "espalier_bench_operations: %s\n", what.c_str());
  });

  std::vector<std::string> wrong;
  for (const auto& [name, tables] : operation_sections(counted)) {
    std::printf("## %s\n\n%s\n", name.c_str(), tables.c_str());
    if (!markdown_file.empty()) replace_section(markdown_file, name, tables);
    if (check_file.empty()) continue;
    const std::string where = where_different(check_file, name, tables, operations_command);
    if (!where.empty()) wrong.push_back(where);
  }
  if (!svg_folder.empty()) {
    const std::string start = svg_folder + "/operations_";
    save(start + "stem.svg", stem_chart(counted).svg());
    save(start + "atlas.svg", atlas_chart(counted).svg());
    save(start + "hands.svg", hands_chart(counted).svg());
    save(start + "asimo.svg", asimo_chart(counted).svg());
    save(start + "phases.svg", phase_chart(counted).svg());
    save(start + "chains.svg", chains_chart(counted).svg());
    save(start + "growth.svg", growth_chart(counted).svg());
  }
  if (!csv_file.empty()) save(csv_file, csv(counted));

  for (const std::string& where : where_dearer(counted)) wrong.push_back(where);
  for (const std::string& where : wrong) {
    std::fprintf(stderr, "espalier_bench_operations: %s\n", where.c_str());
  }
  return wrong.empty() ? 0 : 1;
}

}  // namespace

}  // namespace espalier::bench

int main(int count, char** words) {
  return espalier::bench::run_guarded("espalier_bench_operations", espalier::bench::run, count,
                                      words);
}
