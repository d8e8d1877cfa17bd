#include "cli/output/hdf5_table.hpp"

#include <dlfcn.h>

#include <algorithm>

#include "cli/command.hpp"
#include "cli/session.hpp"

namespace espalier::cli {

bool is_hdf5(const std::string& file) { return file.ends_with(".h5") || file.ends_with(".hdf5"); }

void expect_data_sets(const std::string& file, const std::vector<std::string>& columns) {
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const std::string name = data_set_of(columns[k]);
    const auto refuse = [&](const std::string& is, const std::string& expected) {
      throw Failure(wrong_usage, "DuplicateName",
                    file + ": column '" + columns[k] + "' " + is + ", expected " + expected);
    };
    if (name.empty() || name == "." || name.find('\0') != std::string::npos) {
      refuse("names no data set of HDF5", "a name, not '.'");
    }
    for (std::size_t i = 0; i < k; ++i) {
      if (data_set_of(columns[i]) != name) continue;
      refuse("is data set '" + name + "' of HDF5, as is column '" + columns[i] + "'",
             "names that differ (a slash becomes '_')");
    }
  }
}

void write_hdf5(const std::string& file, const std::vector<FileColumn>& columns) {
  // Found beside the libraries that the program is linked to; nobody else pays for HDF5.
  void* library = dlopen("libespalier_hdf5.so." ESPALIER_SOVERSION, RTLD_NOW);
  if (library == nullptr) {
    throw Failure(unusable, "Unsupported",
                  file + ": HDF5 is missing (" + dlerror() +
                      "), expected Espalier built with it (Debian: apt-get install libhdf5-dev, "
                      "and configure again), or a file that ends in .csv");
  }
  using Bytes = void (*)(const std::vector<FileColumn>&, std::string&, std::string&);
  std::string bytes, problem;
  reinterpret_cast<Bytes>(dlsym(library, "espalier_hdf5_bytes"))(columns, bytes, problem);
  if (!problem.empty()) {
    throw Failure(unusable, "OutputError",
                  file + ": table is no HDF5 (" + problem +
                      "), expected one (a file that ends in "
                      ".csv takes all)");
  }
  write_file(file, bytes);
}

std::vector<FileColumn> columns_of_csv(const std::string& csv,
                                       const std::vector<std::string>& texts,
                                       const std::vector<std::string>& whole) {
  const auto named = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<FileColumn> out;
  std::string cell;
  std::size_t column = 0;
  bool quoted = false, header = true;
  const auto end_cell = [&] {
    if (header) {
      const auto kind = named(texts, cell)   ? FileColumn::Kind::text
                        : named(whole, cell) ? FileColumn::Kind::whole
                                             : FileColumn::Kind::number;
      out.push_back({cell, kind, {}});
    } else {
      out.at(column++).cells.push_back(cell);
    }
    cell.clear();
  };
  for (std::size_t i = 0; i < csv.size(); ++i) {
    const char c = csv[i];
    if (quoted && c == '"' && i + 1 < csv.size() && csv[i + 1] == '"') {
      cell += '"', ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == ',' || c == '\n')) {
      end_cell();
      if (c == '\n') header = false, column = 0;
    } else {
      cell += c;
    }
  }
  return out;
}

}  // namespace espalier::cli
