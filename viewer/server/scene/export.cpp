#include "viewer/server/scene/export.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace espalier::viewer {

namespace {

// Quaternions in units of 1/30000 and places in units of 10 µm: finer than a pixel.
constexpr double turn_unit = 30000.0, place_unit = 1e5;
constexpr int line_samples = 61, net_samples = 21, fine_samples = 241;
// Numbers in the file at most: about 1.2 MB of digits.
constexpr std::size_t most_numbers = 220000;

/// Poses of some bodies in many positions; what does not move is written once.
class Poses {
 public:
  Poses(Mechanism& mechanism, std::vector<int> bodies)
      : mechanism_(mechanism), bodies_(std::move(bodies)) {}

  void take() {
    mechanism_.local_placements(all_);
    std::vector<double> row;
    for (const int body : bodies_) row.insert(row.end(), &all_[7 * body], &all_[7 * body] + 7);
    // A quaternion and its negative are one turn: the one closer to the last, for interpolation.
    if (last_ >= 0) {
      const std::vector<double>& before = rows_[last_];
      for (std::size_t b = 0; b < bodies_.size(); ++b) {
        double dot = 0.0;
        for (int k = 3; k < 7; ++k) dot += row[7 * b + k] * before[7 * b + k];
        if (dot < 0.0) {
          for (int k = 3; k < 7; ++k) row[7 * b + k] = -row[7 * b + k];
        }
      }
    }
    last_ = static_cast<int>(rows_.size());
    rows_.push_back(std::move(row));
    missing_.push_back(false);
  }
  void leave_out() { rows_.emplace_back(), missing_.push_back(true); }
  /// Places a row that was taken out of order.
  void put(std::size_t index, Poses& from) {
    if (rows_.size() <= index) rows_.resize(index + 1), missing_.resize(index + 1, true);
    rows_[index] = from.rows_.back(), missing_[index] = from.missing_.back();
  }

  Json json() const {
    const std::size_t count = bodies_.size();
    std::vector<bool> moves(count, false), turns(count, false);
    const std::vector<double>* first = nullptr;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (missing_[i]) continue;
      if (first == nullptr) first = &rows_[i];
      for (std::size_t b = 0; b < count; ++b) {
        for (int k = 0; k < 7; ++k) {
          if (std::abs(rows_[i][7 * b + k] - (*first)[7 * b + k]) < 1e-9) continue;
          if (k < 3) {
            moves[b] = true;
          } else {
            turns[b] = true;
          }
        }
      }
    }
    Json bodies = Json::array(), rows = Json::array();
    for (std::size_t b = 0; b < count; ++b) {
      Json fixed = Json::array();
      for (int k = 0; k < 7 && first != nullptr; ++k) fixed.push_back((*first)[7 * b + k]);
      bodies.push_back({{"body", bodies_[b]},
                        {"moves", static_cast<bool>(moves[b])},
                        {"turns", static_cast<bool>(turns[b])},
                        {"at", fixed}});
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (missing_[i]) {
        rows.push_back(nullptr);
        continue;
      }
      Json row = Json::array();
      for (std::size_t b = 0; b < count; ++b) {
        for (int k = 0; k < 7; ++k) {
          if (k < 3 ? !moves[b] : !turns[b]) continue;
          row.push_back(std::lround(rows_[i][7 * b + k] * (k < 3 ? place_unit : turn_unit)));
        }
      }
      rows.push_back(std::move(row));
    }
    return {
        {"bodies", bodies}, {"rows", rows}, {"turn_unit", turn_unit}, {"place_unit", place_unit}};
  }

 private:
  Mechanism& mechanism_;
  std::vector<int> bodies_;
  std::vector<double> all_;
  std::vector<std::vector<double>> rows_;
  std::vector<bool> missing_;
  int last_ = -1;
};

std::vector<int> bodies_of(const Model& model, const Cluster& cluster) {
  std::vector<int> out;
  for (int k = 0; k < cluster.count; ++k) out.push_back(cluster.first + k);
  for (int k = 0; k < cluster.rotors; ++k) out.push_back(model.rotors()[cluster.rotor + k].body);
  return out;
}

double sample_at(const Slider& s, int i, int samples) {
  return s.lower + (s.upper - s.lower) * i / (samples - 1);
}
int nearest_sample(const Slider& s, double value, int samples) {
  const double x = (value - s.lower) / (s.upper - s.lower) * (samples - 1);
  return static_cast<int>(std::clamp(std::round(x), 0.0, samples - 1.0));
}

/// Calls `visit` at samples from the nearest to both ends, each reached from its neighbour; an end
/// that does not close ends its way.
template <class F>
void walk(Mechanism& mechanism, int slider, int samples, const F& visit) {
  const Slider& s = mechanism.sliders()[slider];
  const std::vector<double> begin = mechanism.q();
  const int middle = nearest_sample(s, slider_value(mechanism.model(), s, begin.data()), samples);
  std::vector<double> reached;
  for (const int direction : {1, -1}) {
    mechanism.place(direction > 0 || reached.empty() ? begin : reached);
    for (int i = direction > 0 ? middle : middle - 1; i >= 0 && i < samples; i += direction) {
      mechanism.set(slider, sample_at(s, i, samples));
      if (mechanism.closure().verdict != Closure::Verdict::closed) break;
      if (i == middle) reached = mechanism.q();
      visit(i);
    }
  }
  mechanism.place(begin);
}

std::string base64(const std::string& bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned three = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      three = (three << 8) | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k > bytes.size() ? '=' : digits[(three >> (18 - 6 * k)) & 63];
    }
  }
  return out;
}

}  // namespace

namespace {

/// Poses along one or two sliders of a cluster.
Json sampled(Mechanism& mechanism, const std::vector<int>& moved, int samples) {
  const Model& model = mechanism.model();
  const Cluster& cluster = model.clusters()[mechanism.sliders()[moved[0]].cluster];
  const std::vector<int> bodies = bodies_of(model, cluster);
  const std::size_t size = static_cast<std::size_t>(samples) * (moved.size() == 2 ? samples : 1);
  Poses poses(mechanism, bodies), last(mechanism, bodies);
  std::vector<Json> residuals(size), margins(size);
  const auto visit = [&](std::size_t index) {
    last.take();
    poses.put(index, last);
    residuals[index] = mechanism.closure().residual, margins[index] = mechanism.closure().margin;
  };
  if (moved.size() == 2) {
    walk(mechanism, moved[0], samples, [&](int i) {
      walk(mechanism, moved[1], samples,
           [&](int j) { visit(static_cast<std::size_t>(i) * samples + j); });
    });
  } else {
    walk(mechanism, moved[0], samples, [&](int i) { visit(i); });
  }
  Json sweep = poses.json();
  while (sweep["rows"].size() < size) sweep["rows"].push_back(nullptr);
  sweep["sliders"] = moved, sweep["samples"] = samples;
  sweep["residuals"] = residuals, sweep["margins"] = margins;
  return sweep;
}

}  // namespace

Json sweeps_of(Mechanism& mechanism) {
  const std::vector<Slider>& sliders = mechanism.sliders();
  std::map<int, std::vector<int>> by_cluster;
  for (std::size_t i = 0; i < sliders.size(); ++i)
    by_cluster[sliders[i].cluster].push_back(static_cast<int>(i));
  Json out = Json::array();
  for (const auto& [cluster, moved] : by_cluster) {
    if (moved.size() == 2) {
      out.push_back(sampled(mechanism, moved, net_samples));
    } else {
      for (const int slider : moved) out.push_back(sampled(mechanism, {slider}, line_samples));
    }
  }
  return out;
}

Json sweep_of(Mechanism& mechanism, const std::string& name) {
  std::string known;
  for (std::size_t i = 0; i < mechanism.sliders().size(); ++i) {
    const std::string& other = mechanism.sliders()[i].name;
    if (other == name) return sampled(mechanism, {static_cast<int>(i)}, fine_samples);
    known += (known.empty() ? "" : ", ") + other;
  }
  throw UnknownName("viewer: coordinate to sweep is '" + name + "', expected an independent one (" +
                    known + ")");
}

Json motion_of(Mechanism& mechanism, const Trajectory& trajectory) {
  const Model& model = mechanism.model();
  std::vector<int> bodies(model.body_count());
  for (int i = 0; i < model.body_count(); ++i) bodies[i] = i + 1;
  const std::size_t rows = trajectory.times.size();
  const std::size_t most = std::clamp<std::size_t>(most_numbers / (4 * bodies.size() + 1), 2, 2000);
  const std::size_t every = (rows + most - 1) / most;
  Poses poses(mechanism, bodies);
  Json times = Json::array(), residuals = Json::array(), charts = Json::array();
  Json margins = Json::array();
  Json values = Json::array();
  for (std::size_t i = 0; i < rows; i += every) {
    mechanism.place(trajectory.positions[i]);
    poses.take();
    times.push_back(trajectory.times[i]);
    residuals.push_back(mechanism.closure().residual);
    margins.push_back(mechanism.closure().margin);
    Json row = Json::array(), value = Json::array();
    // Six digits are more than a chart shows.
    for (const double x : trajectory.charts[i]) row.push_back(static_cast<float>(x));
    for (const Slider& s : mechanism.sliders()) {
      value.push_back(std::round(1e5 * slider_value(model, s, mechanism.q().data())) / 1e5);
    }
    charts.push_back(std::move(row)), values.push_back(std::move(value));
  }
  Json out = poses.json();
  out["times"] = times, out["residuals"] = residuals, out["margins"] = margins,
  out["values"] = values;
  out["columns"] = trajectory.columns, out["charts"] = charts;
  return out;
}

std::string self_contained(const std::string& page, const Json& data) {
  const std::string mark = "<script id=\"data\" type=\"application/json\">";
  const std::size_t at = page.find(mark);
  if (at == std::string::npos) {
    throw InvalidModel(
        "viewer: page has no element 'data', expected the page that the build makes");
  }
  // Inside a script element a name such as "</script>" would end it.
  std::string text;
  for (const char c : to_text(data)) text += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return page.substr(0, at + mark.size()) + text + page.substr(at + mark.size());
}

Json exported(const Stage& stage, const Trajectory* trajectory, const std::string& sweep) {
  Mechanism mechanism(stage.host, stage.model);
  mechanism.place(stage.start);
  Json out{{"scene", stage.scene}};
  if (trajectory != nullptr) {
    out["motion"] = motion_of(mechanism, *trajectory);
    mechanism.place(trajectory->positions.front());
  } else if (!sweep.empty()) {
    out["sweeps"] = Json::array({sweep_of(mechanism, sweep)}), out["sweep"] = sweep;
    mechanism.place(stage.start);
  } else {
    out["sweeps"] = sweeps_of(mechanism);
    mechanism.place(stage.start);
  }
  out["pose"] = mechanism.pose();
  Json meshes = Json::array();
  for (std::size_t i = 0; i < stage.meshes.files().size(); ++i) {
    const auto bytes = stage.meshes.read(i);
    meshes.push_back(bytes ? Json(base64(*bytes)) : Json(nullptr));
  }
  out["meshes"] = meshes;
  return out;
}

}  // namespace espalier::viewer
