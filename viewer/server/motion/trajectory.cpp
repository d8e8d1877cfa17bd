#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

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

}  // namespace

Trajectory read_trajectory(const Model& model, const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  if (!stream || !std::getline(stream, line)) {
    throw InvalidModel(file +
                       ": trajectory is not readable, expected a CSV of 'espalier simulate'");
  }
  if (line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);  // the mark that Windows puts first
  const std::vector<std::string> header = fields_of(line);
  std::vector<int> position(header.size(), -1), chart(header.size(), -1);
  int time = -1;
  std::vector<bool> seen(model.nq(), false);
  Trajectory out;
  for (std::size_t c = 0; c < header.size(); ++c) {
    const std::string& name = header[c];
    if (name == "time") {
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
      char* end = nullptr;
      const double x = std::strtod(fields[c].c_str(), &end);
      if (fields[c].empty() || *end != '\0' || !std::isfinite(x)) {
        throw InvalidModel(fmt::format("{}:{}: column '{}' is '{}', expected a number", file,
                                       number, header[c], fields[c]));
      }
      if (static_cast<int>(c) == time) out.times.push_back(x);
      if (position[c] >= 0) q[position[c]] = x;
      if (chart[c] >= 0) charted[chart[c]] = x;
    }
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

}  // namespace espalier::viewer
