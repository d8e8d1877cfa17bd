#include "viewer/server/json.hpp"

#include <Eigen/Geometry>
#include <cmath>

namespace espalier::viewer {

std::string to_text(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append_placement(const Transform<double>& X, double* seven) {
  Eigen::Matrix3d R;  // of the frame's axes in the parent: E transposed
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) R(j, i) = X.E(i, j);
  }
  const Eigen::Quaterniond turn(R);
  for (int i = 0; i < 3; ++i) seven[i] = X.r[i];
  seven[3] = turn.x(), seven[4] = turn.y(), seven[5] = turn.z(), seven[6] = turn.w();
}

Json placement(const Transform<double>& X) {
  double seven[7];
  append_placement(X, seven);
  Json out = Json::array();
  for (const double x : seven) out.push_back(std::round(x * 1e8) / 1e8);
  return out;
}

}  // namespace espalier::viewer
