#include "cli/output/motion_table.hpp"

#include <algorithm>
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

constexpr int any_threads = -1;

class Csv final : public MotionTable {
 public:
  Csv(const std::string& path, const std::vector<std::string>& names, RowBlocks::Format complete)
      : file_(path, input_files().kept()),
        rows_(
            names.size(), [this](std::string_view lines) { file_.write(lines); }, any_threads,
            std::move(complete)) {
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
  double* begin_row() override { return rows_.begin_row(); }
  void end_row() override { rows_.end_row(); }

  OutputFile file_;
  CsvRows rows_;
};

class Npz final : public MotionTable {
 public:
  Npz(const std::string& path, std::vector<std::string> names, std::size_t rows,
      RowBlocks::Format complete)
      : file_(path, std::move(names), input_files().kept(), rows, any_threads,
              std::move(complete)) {}
  void close() override { file_.close(); }

 private:
  double* begin_row() override { return file_.begin_row(); }
  void end_row() override { file_.end_row(); }

  NpzFile file_;
};

}  // namespace

void MotionTable::row(const Sample& s, const std::vector<double>& more) {
  double* at = begin_row();
  *at++ = s.t;
  at = std::copy_n(s.q.data(), s.q.size(), at);  // of pointers, which is one memmove
  at = std::copy_n(s.v.data(), s.v.size(), at);
  for (const double x : {s.kinetic, s.gravity, s.springs, s.energy(), s.residual}) *at++ = x;
  std::ranges::copy(more, at);
  end_row();
}

std::unique_ptr<MotionTable> motion_table(const std::string& file, const Model& model,
                                          const std::vector<std::string>& more, std::size_t rows,
                                          RowEnergies* energies) {
  std::vector<std::string> names = names_of(model, more);
  RowBlocks::Format complete;
  if (energies != nullptr) {
    complete = [energies, columns = names.size()](RowBlocks::Block& block) {
      energies->complete(block, columns);
    };
  }
  if (file.ends_with(".npz")) {
    return std::make_unique<Npz>(file, std::move(names), rows, std::move(complete));
  }
  return std::make_unique<Csv>(file, names, std::move(complete));
}

}  // namespace espalier::cli
