#include "espalier/host/batches/batch_single.hpp"

#include <algorithm>
#include <limits>

namespace espalier::detail {

BatchSingle::BatchSingle(std::unique_ptr<Algorithm> algorithm, const ModelPtr& model)
    : algorithm_(std::move(algorithm)), model_(model), wrenches_(model) {}

std::vector<double>& BatchSingle::input(std::vector<double> Inputs::*which, int rows) {
  std::vector<double>& numbers = in_.*which;
  numbers.resize(static_cast<std::size_t>(rows));
  return numbers;
}

void BatchSingle::set_wrenches(const double* row, const Strides& at) {
  in_.wrenches = nullptr;
  if (row == nullptr) return;
  wrenches_.clear();
  for (const Link& link : model_->links()) {
    Force<double> wrench;
    for (int i = 0; i < 6; ++i, row += at.number) wrench[i] = *row;
    wrenches_.add(link, wrench);
  }
  in_.wrenches = &wrenches_;
}

void BatchSingle::solve() {
  try {
    algorithm_->solve(in_, out_);
  } catch (const SingularMechanism&) {  // of this state; batches throw for none
    for (Result& r : out_) {
      std::fill(r.values.begin(), r.values.end(), std::numeric_limits<double>::quiet_NaN());
    }
  }
}

}  // namespace espalier::detail
