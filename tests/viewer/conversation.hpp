#pragma once

#include <string>

#include "tests/support/host.hpp"
#include "viewer/server/client.hpp"

/// What tests of the viewer's messages say and read.

namespace espalier::test {

using viewer::Client;
using viewer::Json;
using viewer::Stage;

// The position solves stop at 1e-12; what is sent has to stay a hundred times below 1e-10.
inline constexpr double closed = 1e-10;

inline Stage four_bar() {
  return {host(), ESPALIER_SOURCE_DIR "/tests/viewer/data/four_bar.yaml", {}};
}
inline Stage robot(const std::string& name) {
  return {host(),
          std::string(ESPALIER_SOURCE_DIR "/robots/") + name,
          {.root = CompileOptions::Root::fixed}};
}
inline Json ask(Client& client, const Json& message) {
  return Json::parse(client.receive(message.dump()));
}
inline double number(const Json& answer, const char* key) {
  return answer.at("pose").at(key).get<double>();
}

/// Where a point of a body is, from the placements that were sent.
inline Vec3<double> place(const Stage& stage, const Json& pose, int body, const Json& point) {
  Vec3<double> p{point[0], point[1], point[2]};
  const Json& seven = pose.at("bodies");
  for (int i = body; i > 0; i = stage.scene["bodies"][i]["parent"].get<int>()) {
    const auto n = [&](int k) { return seven[7 * i + k].get<double>(); };
    const Vec3<double> u{n(3), n(4), n(5)};
    const Vec3<double> t = scale(2.0, cross(u, p));
    p = p + scale(n(6), t) + cross(u, t) + Vec3<double>{n(0), n(1), n(2)};
  }
  return p;
}

}  // namespace espalier::test
