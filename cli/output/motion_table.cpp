#include "cli/output/motion_table.hpp"

#include <zlib.h>
#include <limits>

#include "cli/output/column_store.hpp"
#include "cli/output/csv_rows.hpp"
#include "cli/output/results.hpp"
#include "cli/output/table.hpp"
#include "cli/session.hpp"
#include "espalier/host/output_file.hpp"

namespace espalier::cli {

namespace {

std::vector<std::string> names_of(const Model& model, const std::vector<std::string>& more) {
  std::vector<std::string> names{"time"};
  for (const Joint& joint : model.joints()) {
    for (int k = 0; k < joint.nq; ++k) {
      names.push_back("q." + joint.name + (joint.nq == 1 ? "" : "[" + std::to_string(k) + "]"));
    }
  }
  for (const Coordinate& c : model.coordinates()) {
    for (int k = 0; k < c.size; ++k) {
      names.push_back("v." + c.name + (c.size == 1 ? "" : "[" + std::to_string(k) + "]"));
    }
  }
  for (const char* name : {"kinetic", "gravity", "springs", "energy", "loop_residual"}) {
    names.emplace_back(name);
  }
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

class Csv final : public MotionTable {
 public:
  Csv(const std::string& path, const std::vector<std::string>& names)
      : file_(path, input_files().kept()), rows_(names.size()) {
    std::string head;
    for (const std::string& name : names) head += csv_cell(name) + ',';
    head.back() = '\n';
    file_.write(head);
  }
  void close() override {
    file_.write(rows_.finish());
    file_.commit();
  }

 private:
  void add(const std::vector<double>& row) override { file_.write(rows_.add(row)); }

  OutputFile file_;
  CsvRows rows_;
};

/// Whole numbers as they stand in files, least byte first.
template <class... Numbers>
std::string bytes(Numbers... numbers) {
  std::string out;
  const auto add = [&](auto x) {
    for (std::size_t k = 0; k < sizeof x; ++k) {
      out += static_cast<char>(static_cast<std::uint64_t>(x) >> (8 * k) & 0xff);
    }
  };
  (add(numbers), ...);
  return out;
}

/// A zip archive without compression of one .npy for each column.
/// Formats: NumPy's NEP 1, PKWARE's APPNOTE 4.3.
class Npz final : public MotionTable {
 public:
  Npz(const std::string& path, std::vector<std::string> names)
      : path_(path),
        file_(path, input_files().kept()),
        names_(std::move(names)),
        rows_(names_.size()) {}

  void close() override {
    const std::size_t rows = rows_.rows();
    const std::string head = npy_header(rows);
    std::size_t names = 0;
    for (const std::string& name : names_) names += 2 * name.size();
    if (names_.size() * (8 * rows + head.size() + 200) + names >=
        std::numeric_limits<std::uint32_t>::max()) {
      throw OutputError(path_ + ": rows are " + std::to_string(rows) +
                        ", expected less than 4 GiB of them in an .npz (write fewer by --every, or "
                        "a .csv)");
    }
    std::string directory, data;
    std::uint32_t at = 0;
    for (std::size_t c = 0; c < names_.size(); ++c) {
      data = head;
      rows_.append_column(c, data);
      const std::string name = names_[c] + ".npy";
      const auto checksum = static_cast<std::uint32_t>(
          crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size())));
      // Version 2.0, names in UTF-8, stored, 1 January 1980, checksum, sizes, length of the name.
      const auto size = static_cast<std::uint32_t>(data.size());
      const std::string entry = bytes(std::uint16_t{20}, std::uint16_t{0x800}, std::uint16_t{0},
                                      std::uint16_t{0}, std::uint16_t{0x21}, checksum, size, size,
                                      static_cast<std::uint16_t>(name.size()), std::uint16_t{0});
      const std::string local = bytes(std::uint32_t{0x04034b50}) + entry + name;
      file_.write(local);
      file_.write(data);
      directory +=
          bytes(std::uint32_t{0x02014b50}, std::uint16_t{20}) + entry +
          bytes(std::uint16_t{0}, std::uint16_t{0}, std::uint16_t{0}, std::uint32_t{0}, at) + name;
      at += static_cast<std::uint32_t>(local.size() + data.size());
    }
    const auto count = static_cast<std::uint16_t>(names_.size());
    file_.write(directory + bytes(std::uint32_t{0x06054b50}, std::uint16_t{0}, std::uint16_t{0},
                                  count, count, static_cast<std::uint32_t>(directory.size()), at,
                                  std::uint16_t{0}));
    file_.commit();
  }

 private:
  void add(const std::vector<double>& row) override { rows_.add(row.data()); }
  static std::string npy_header(std::size_t rows) {
    std::string form =
        "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ",), }";
    constexpr std::size_t before = 10, block = 64;
    form.resize((before + form.size() + 1 + block - 1) / block * block - before - 1, ' ');
    form += '\n';
    return "\x93NUMPY" +
           bytes(std::uint8_t{1}, std::uint8_t{0}, static_cast<std::uint16_t>(form.size())) + form;
  }

  std::string path_;
  OutputFile file_;
  std::vector<std::string> names_;
  ColumnStore rows_;
};

}  // namespace

void MotionTable::row(const Sample& s, const std::vector<double>& more) {
  row_.assign(1, s.t);
  row_.insert(row_.end(), s.q.begin(), s.q.end());
  row_.insert(row_.end(), s.v.begin(), s.v.end());
  for (const double x : {s.kinetic, s.gravity, s.springs, s.energy(), s.residual})
    row_.push_back(x);
  row_.insert(row_.end(), more.begin(), more.end());
  add(row_);
}

std::unique_ptr<MotionTable> motion_table(const std::string& file, const Model& model,
                                          const std::vector<std::string>& more) {
  std::vector<std::string> names = names_of(model, more);
  if (file.ends_with(".npz")) return std::make_unique<Npz>(file, std::move(names));
  return std::make_unique<Csv>(file, names);
}

}  // namespace espalier::cli
