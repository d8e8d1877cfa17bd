#include "espalier/kernel/problems/end_effector.hpp"

#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier {

namespace {

EndEffector unit_rows(std::string_view link, const Vec3<double>& offset, EndEffector::Axes axes,
                      int first) {
  EndEffector e;
  e.link = link;
  e.offset = offset;
  e.axes = axes;
  for (int i = first; i < 6; ++i) {
    e.rows.push_back({});
    e.rows.back()[i] = 1.0;
  }
  return e;
}

void expect_finite(const EndEffector& e, double x, const char* what) {
  if (std::isfinite(x)) return;
  throw InvalidModel("end-effector on link " + text::quoted(e.link) + ": " + what + " holds " +
                     text::number(x) + ", expected finite numbers");
}

}  // namespace

EndEffector EndEffector::weld(std::string_view link, const Vec3<double>& offset, Axes axes) {
  return unit_rows(link, offset, axes, 0);
}

EndEffector EndEffector::contact(std::string_view link, const Vec3<double>& offset, Axes axes) {
  return unit_rows(link, offset, axes, 3);
}

std::vector<EndEffector> tips(const Model& model) {
  std::vector<bool> carries(model.body_count() + 1, false);
  for (int i = 1; i <= model.active_body_count(); ++i) carries[model.body(i).parent] = true;
  std::vector<EndEffector> all;
  for (int i = 1; i <= model.active_body_count(); ++i) {
    if (!carries[i]) all.push_back(EndEffector::weld(model.body_names()[i]));
  }
  return all;
}

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
