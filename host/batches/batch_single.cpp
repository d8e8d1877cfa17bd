#include "espalier/host/batches/batch_single.hpp"

#include <algorithm>
#include <limits>

namespace espalier::detail {

BatchSingle::BatchSingle(std::unique_ptr<Algorithm> algorithm, const ModelPtr& model,
                         const Inputs& like, const Results& shapes)
    : algorithm_(std::move(algorithm)),
      model_(model),
      wrenches_(model),
      own_(like),
      in_(own_),
      out_(shapes) {
  for (Result& r : out_) {
    r.values.resize(static_cast<std::size_t>(r.row_count) *
                    static_cast<std::size_t>(r.column_count));
  }
  solve();
}

void BatchSingle::set_input(int role, const double* first, long apart) {
  std::vector<double>& own = own_.*numbers_of<double>[static_cast<std::size_t>(role)];
  In<double>& in = in_.*views_of<double>[static_cast<std::size_t>(role)];
  if (apart == 1) {
    in = {first, in.size()};
    return;
  }
  for (double& x : own) x = *first, first += apart;
  in = own;
}

void BatchSingle::set_wrenches(const double* row, const Strides& at) {
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
