#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace espalier::cli {

/// A column of a table that is written to a file: whole numbers, numbers or texts.
struct FileColumn {
  enum class Kind { whole, number, text };
  std::string name;
  Kind kind = Kind::number;
  std::vector<std::string> cells;  ///< as in CSV; an empty number is NaN
};

/// Whether the name of a file asks for HDF5: it ends in .h5 or .hdf5.
bool is_hdf5(const std::string& file);
/// The data set of a column: a slash would make a group.
inline std::string data_set_of(std::string column) {
  std::replace(column.begin(), column.end(), '/', '_');
  return column;
}
/// @throws Failure naming columns that would be one data set, or none
void expect_data_sets(const std::string& file, const std::vector<std::string>& columns);
/// Writes a data set for each column, in their order, whole or not at all. The library is loaded
/// for it.
/// @throws Failure where Espalier was built without HDF5; OutputError
void write_hdf5(const std::string& file, const std::vector<FileColumn>& columns);
/// The columns of a CSV with a header. @param texts  names of columns of texts  @param whole  of
/// whole numbers
std::vector<FileColumn> columns_of_csv(const std::string& csv,
                                       const std::vector<std::string>& texts,
                                       const std::vector<std::string>& whole);

}  // namespace espalier::cli
