#include <spdlog/fmt/fmt.h>

#include <charconv>
#include <cmath>
#include <sstream>

#include "espalier/kernel/model/loops/loop_projector.hpp"
#include "espalier/kernel/model/motion/quaternions.hpp"
#include "viewer/server/scene/export.hpp"

namespace espalier::viewer {

namespace {

/// The fields of a line of CSV; quotes as RFC 4180 has them.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      out.back() += '"', ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      out.emplace_back();
    } else if (c != '\r') {
      out.back() += c;
    }
  }
  return out;
}

/// NaN where a field holds more or less than a number.
double number_in(const std::string& field) {
  const char* const end = field.data() + field.size();
  double x = 0.0;
  const auto [stop, error] = std::from_chars(field.data(), end, x);
  return error == std::errc() && stop == end ? x : std::nan("");
}

}  // namespace

Trajectory read_trajectory(const Model& model, const std::string& text, const std::string& file) {
  if (text.starts_with("PK")) {
    throw InvalidModel(file +
                       ": trajectory is an archive of arrays (NPZ), expected a CSV "
                       "(simulate --output run.csv)");
  }
  std::istringstream stream(text);
  std::string line;
  std::getline(stream, line);
  const std::vector<std::string> header = fields_of(line);
  std::vector<int> position(header.size(), -1), chart(header.size(), -1);
  int time = -1;
  const auto expect_once = [&](bool given, const std::string& name) {
    if (!given) return;
    throw DuplicateName(file + ": column '" + name + "' is given twice, expected once");
  };
  std::vector<bool> seen(model.nq(), false);
  Trajectory out;
  for (std::size_t c = 0; c < header.size(); ++c) {
    const std::string& name = header[c];
    if (name == "time") {
      expect_once(time >= 0, name);
      time = static_cast<int>(c);
    } else if (name.starts_with("q.")) {
      for (const Joint& joint : model.joints()) {
        for (int k = 0; k < joint.nq; ++k) {
          const std::string index = joint.nq == 1 ? "" : "[" + std::to_string(k) + "]";
          if (name == "q." + joint.name + index) position[c] = joint.q + k;
        }
      }
      if (position[c] < 0) {
        throw InvalidModel(
            fmt::format("{}: column is '{}', expected positions of the joints of '{}' "
                        "({})",
                        file, name, model.name(),
                        name.starts_with("q.root") ? "its root floats: add --root floating"
                                                   : "was it written for another robot?"));
      }
      expect_once(seen[position[c]], name);
      seen[position[c]] = true;
    } else if (!name.starts_with("v.")) {
      chart[c] = static_cast<int>(out.columns.size());
      out.columns.push_back(name);
    }
  }
  for (const Joint& joint : model.joints()) {
    for (int k = 0; k < joint.nq; ++k) {
      if (seen[joint.q + k]) continue;
      throw InvalidModel(fmt::format(
          "{}: column 'q.{}' is missing, expected the positions of all joints", file, joint.name));
    }
  }
  if (time < 0) throw InvalidModel(file + ": column 'time' is missing, expected it");
  for (int number = 2; std::getline(stream, line); ++number) {
    if (line.empty()) continue;
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() != header.size()) {
      throw InvalidModel(fmt::format("{}:{}: number of fields is {}, expected {} as in the header",
                                     file, number, fields.size(), header.size()));
    }
    std::vector<double> q(model.nq()), charted(out.columns.size());
    for (std::size_t c = 0; c < fields.size(); ++c) {
      const bool needed = static_cast<int>(c) == time || position[c] >= 0 || chart[c] >= 0;
      if (!needed) continue;
      const double x = number_in(fields[c]);
      if (!std::isfinite(x)) {
        throw InvalidModel(fmt::format("{}:{}: column '{}' is '{}', expected a number", file,
                                       number, header[c], fields[c]));
      }
      if (static_cast<int>(c) == time) out.times.push_back(x);
      if (position[c] >= 0) q[position[c]] = x;
      if (chart[c] >= 0) charted[chart[c]] = x;
    }
    expect_directions(fmt::format("{}:{}", file, number), model, q.data());
    out.positions.push_back(std::move(q)), out.charts.push_back(std::move(charted));
  }
  if (out.times.empty()) throw InvalidModel(file + ": trajectory has no rows, expected some");
  for (std::size_t i = 1; i < out.times.size(); ++i) {
    if (out.times[i] < out.times[i - 1]) {
      throw InvalidModel(fmt::format("{}:{}: time is {}, expected at least {} of the row before",
                                     file, i + 2, out.times[i], out.times[i - 1]));
    }
  }
  return out;
}

std::string doubts_of(const ModelPtr& model, const Trajectory& trajectory) {
  // What closed loops miss by after numbers were written with six digits.
  constexpr double open = 1e-4;
  LoopProjector loops(model);
  double worst = 0.0, when = 0.0;
  for (std::size_t i = 0; i < trajectory.times.size(); ++i) {
    const double residual = loops.residual(trajectory.positions[i].data());
    if (residual > worst) worst = residual, when = trajectory.times[i];
  }
  if (!(worst > open)) return "";
  return fmt::format(
      "trajectory: loops are open by {:.3g} at {:.6g} s, expected closed ones (it is drawn as "
      "written)",
      worst, when);
}

}  // namespace espalier::viewer
