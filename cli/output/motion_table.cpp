#include "cli/output/motion_table.hpp"

#include <utility>

#include "cli/output/csv_rows.hpp"
#include "cli/output/npz_file.hpp"
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
      : file_(path, input_files().kept()),
        rows_(names.size(), [this](std::string_view lines) { file_.write(lines); }) {
    std::string head;
    for (const std::string& name : names) head += csv_cell(name) + ',';
    head.back() = '\n';
    file_.write(head);
  }
  void close() override {
    rows_.finish();
    file_.commit();
  }

 private:
  void add(const std::vector<double>& row) override { rows_.add(row); }

  OutputFile file_;
  CsvRows rows_;
};

class Npz final : public MotionTable {
 public:
  Npz(const std::string& path, std::vector<std::string> names, std::size_t rows)
      : file_(path, std::move(names), input_files().kept(), rows) {}
  void close() override { file_.close(); }

 private:
  void add(const std::vector<double>& row) override { file_.add(row); }

  NpzFile file_;
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
                                          const std::vector<std::string>& more, std::size_t rows) {
  std::vector<std::string> names = names_of(model, more);
  if (file.ends_with(".npz")) return std::make_unique<Npz>(file, std::move(names), rows);
  return std::make_unique<Csv>(file, names);
}

}  // namespace espalier::cli
