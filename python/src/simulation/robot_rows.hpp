#pragma once

#include <span>
#include <vector>

#include "python/src/arrays.hpp"
#include "recorded_run.hpp"

/// What runs of many robots, free and on rigid ground, do with a row of numbers for each robot.

namespace espalier::python {

/// Puts robots elsewhere, by their numbers, with as many rows of q and v.
template <class Run>
void reset_robots(Run& run, OneAtATime& alone, const std::vector<int>& robots, py::handle q,
                  py::handle v, const Model& model, const Asker& asker) {
  const long N = static_cast<long>(robots.size());
  const int nq = model.nq(), nv = model.nv();
  const std::vector<double> at = columns_of(q, "q", nq, N, asker);
  const std::vector<double> rates = columns_of(v, "v", nv, N, asker);
  alone([&] {
    std::vector<double> one_q(nq), one_v(nv);
    for (long k = 0; k < N; ++k) {
      for (int i = 0; i < nq; ++i) one_q[i] = at[i * N + k];
      for (int i = 0; i < nv; ++i) one_v[i] = rates[i * N + k];
      run.reset(robots[k], one_q, one_v);
    }
  });
}

/// Rows of `n` numbers, for as many robots as there are when they are copied.
template <class F, class Count>
py::array_t<double> robot_rows(OneAtATime& alone, F&& columns, const Count& robots, long n) {
  std::vector<double> all;
  long count = 0;
  alone([&] {
    const std::span<const double> now = columns();
    all.assign(now.begin(), now.end());
    count = robots;
  });
  return rows_of(all, n, count);
}

}  // namespace espalier::python
