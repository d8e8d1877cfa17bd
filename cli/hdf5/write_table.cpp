// Loaded by the command line when a file is to be HDF5, so that nobody else pays for it.
#include <hdf5.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "cli/output/hdf5_table.hpp"

namespace espalier::cli {

namespace {

/// A handle of HDF5 and what closes it.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t), const char* what) : id_(id), close_(close) {
    if (id_ < 0) throw what;
  }
  ~Handle() { close_(id_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

void create(hid_t file, const std::string& name, hid_t kept, hid_t given, std::size_t size,
            const void* data) {
  const hsize_t extent = size;
  const Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose, "no space");
  const Handle set(
      H5Dcreate2(file, name.c_str(), kept, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
      "no data set");
  if (size > 0 && H5Dwrite(set, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
    throw "no data written";
  }
}

void write_column(hid_t file, const FileColumn& column) {
  const std::string name = data_set_of(column.name);
  const std::size_t size = column.cells.size();
  if (column.kind == FileColumn::Kind::text) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "no type");
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    std::vector<const char*> texts;
    for (const std::string& cell : column.cells) texts.push_back(cell.c_str());
    create(file, name, type, type, size, texts.data());
  } else if (column.kind == FileColumn::Kind::whole) {
    std::vector<std::int64_t> numbers;
    for (const std::string& cell : column.cells) numbers.push_back(std::atoll(cell.c_str()));
    create(file, name, H5T_STD_I64LE, H5T_NATIVE_INT64, size, numbers.data());
  } else {
    std::vector<double> numbers;
    for (const std::string& cell : column.cells) {
      numbers.push_back(cell.empty() ? std::numeric_limits<double>::quiet_NaN()
                                     : std::strtod(cell.c_str(), nullptr));
    }
    create(file, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, size, numbers.data());
  }
}

}  // namespace

}  // namespace espalier::cli

/// The bytes of a file with a data set for each column. HDF5 itself writes nothing: its own files
/// crash the program where the disk is full.
extern "C" __attribute__((visibility("default"))) void espalier_hdf5_bytes(
    const std::vector<espalier::cli::FileColumn>& columns, std::string& bytes,
    std::string& problem) {
  using espalier::cli::Handle;
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // what is wrong is told once, by the caller
  try {
    const Handle kind(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "no properties");
    H5Pset_link_creation_order(kind, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    const Handle memory(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "no properties");
    constexpr std::size_t step = 1 << 20;  // by which the memory grows
    if (H5Pset_fapl_core(memory, step, /*backing_store=*/0) < 0) throw "no file in memory";
    const Handle out(H5Fcreate("table", H5F_ACC_TRUNC, kind, memory), H5Fclose, "no file created");
    for (const auto& column : columns) espalier::cli::write_column(out, column);
    if (H5Fflush(out, H5F_SCOPE_GLOBAL) < 0) throw "no data flushed";
    const ssize_t size = H5Fget_file_image(out, nullptr, 0);
    if (size < 0) throw "no bytes";
    bytes.resize(static_cast<std::size_t>(size));
    if (H5Fget_file_image(out, bytes.data(), bytes.size()) != size) throw "no bytes";
  } catch (const char* what) {
    problem = what;
  }
}
