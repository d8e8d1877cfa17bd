#include "espalier/kernel/problems/task.hpp"

#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier {

namespace {

void expect_finite(const EndEffector& e, double x, const char* what) {
  if (std::isfinite(x)) return;
  throw InvalidModel("end-effector on link " + text::quoted(e.link) + ": " + what + " holds " +
                     text::number(x) + ", expected finite numbers");
}

}  // namespace

Task::Task(const Model& model, const std::vector<EndEffector>& end_effectors) {
  if (end_effectors.empty()) {
    throw SizeMismatch(
        "task on '" + model.name() +
        "': number of end-effectors is 0, expected at least one (a link with rows; in a state file "
        "\"end_effectors\": [{\"link\": ..., \"rows\": \"6d\"}])");
  }
  for (const EndEffector& e : end_effectors) {
    const Link& link = model.link(e.link);
    if (e.rows.empty()) {
      throw SizeMismatch("end-effector on link " + text::quoted(e.link) +
                         ": number of rows is 0, expected at least one row of six numbers");
    }
    for (int i = 0; i < 3; ++i) expect_finite(e, e.offset[i], "offset");
    Part part;
    part.body = link.body;
    part.first = size_;
    part.world = e.axes == EndEffector::Axes::world;
    part.point = link.X.r + transpose_times(link.X.E, e.offset);
    for (const EndEffector::Row& row : e.rows) {
      for (const double x : row) expect_finite(e, x, "row");
      Force<double> f{{row[0], row[1], row[2]}, {row[3], row[4], row[5]}};
      if (!part.world) {
        f.n += cross(e.offset, f.f);
        f = link.X.transpose_times_force(f);
      }
      part.rows.push_back(f);
    }
    size_ += part.size();
    parts_.push_back(std::move(part));
  }
}

}  // namespace espalier
