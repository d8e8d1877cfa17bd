#include "cli/files/sweep_plan.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <numbers>
#include <set>

#include "cli/command.hpp"
#include "cli/files/robot_numbers.hpp"

namespace espalier::cli {

namespace {

/// Reads keys of a YAML mapping and refuses what it does not know.
class PlanReader {
 public:
  PlanReader(std::string file, YAML::Node node, std::string what)
      : file_(std::move(file)), node_(std::move(node)), what_(std::move(what)) {
    if (!node_.IsMap()) refuse("is no mapping", "a mapping");
  }

  void expect_keys(const std::vector<std::string>& known) const {
    for (const std::string& key : keys()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      throw usage_error(where() + ": key is '" + key + "'" + suggest(key, known));
    }
  }
  /// All keys. @throws Failure for one that is given twice, or is no text
  std::vector<std::string> keys() const {
    std::vector<std::string> out;
    for (const auto& item : node_) {
      if (!item.first.IsScalar()) {
        refuse("has the key " + YAML::Dump(item.first), "texts as keys");
      }
      const std::string& key = item.first.Scalar();
      if (std::find(out.begin(), out.end(), key) != out.end()) {
        throw usage_error(at(item.first) + ": key '" + key + "' is given twice, expected once");
      }
      out.push_back(key);
    }
    return out;
  }
  bool has(const std::string& key) const { return static_cast<bool>(node_[key]); }
  YAML::Node operator[](const std::string& key) const { return node_[key]; }

  template <class T>
  T get(const std::string& key, std::optional<T> fallback = std::nullopt) const {
    const YAML::Node value = node_[key];
    if (!value) {
      if (fallback) return *fallback;
      throw usage_error(where() + ": '" + key + "' is missing, expected it");
    }
    try {
      return value.as<T>();
    } catch (const YAML::Exception&) {
      throw usage_error(where() + ": '" + key + "' is " + YAML::Dump(value) + ", expected " +
                        wanted<T>());
    }
  }
  std::vector<double> numbers(const std::string& key, std::size_t size = 0) const {
    const auto out = get<std::vector<double>>(key);
    const bool finite =
        std::all_of(out.begin(), out.end(), [](double x) { return std::isfinite(x); });
    if (!finite || out.empty() || (size > 0 && out.size() != size)) {
      throw usage_error(where() + ": '" + key + "' is " + YAML::Dump(node_[key]) + ", expected " +
                        (size > 0 ? std::to_string(size) : std::string("a list of")) +
                        " finite numbers");
    }
    return out;
  }
  [[noreturn]] void refuse(const std::string& is, const std::string& expected) const {
    throw usage_error(where() + ": " + what_ + " " + is + ", expected " + expected);
  }
  std::string where() const { return at(node_); }

 private:
  std::string at(const YAML::Node& node) const {
    const int line = node.Mark().line;
    return file_ + (line >= 0 ? ":" + std::to_string(line + 1) : "");
  }
  template <class T>
  static const char* wanted() {
    if constexpr (std::is_same_v<T, std::string>) return "a text";
    if constexpr (std::is_same_v<T, int>) return "a whole number up to 2147483647";
    if constexpr (std::is_same_v<T, unsigned long long>) {
      return "a whole number from 0 to 18446744073709551615";
    }
    if constexpr (std::is_same_v<T, std::vector<std::string>>) return "a list of texts";
    return "a list of finite numbers";
  }

  std::string file_;
  YAML::Node node_;
  std::string what_;
};

SweepParameter read_parameter(const std::string& file, const std::string& name,
                              const YAML::Node& node) {
  const PlanReader reader(file, node, "parameter '" + name + "'");
  reader.expect_keys({"set", "scale", "list", "range", "count", "uniform", "normal"});
  SweepParameter out;
  out.name = name;
  out.scales = reader.has("scale");
  if (reader.has("set") == out.scales) {
    reader.refuse("has both or neither of 'set' and 'scale'", "one of them");
  }
  const char* key = out.scales ? "scale" : "set";
  if (reader[key].IsSequence()) {
    out.targets = reader.get<std::vector<std::string>>(key);
  } else {
    out.targets = {reader.get<std::string>(key)};
  }
  if (out.targets.empty()) reader.refuse(std::string("has no target in '") + key + "'", "one");
  using Values = SweepParameter::Values;
  int given = 0;
  if (reader.has("list")) ++given, out.values = reader.numbers("list");
  if (reader.has("range")) {
    ++given;
    const std::vector<double> ends = reader.numbers("range", 2);
    const int count = reader.get<int>("count");
    if (count < 1) reader.refuse("has count " + std::to_string(count), "at least 1");
    for (int k = 0; k < count; ++k) {  // one of one point is its first end
      out.values.push_back(ends[0] + (ends[1] - ends[0]) * k / std::max(1, count - 1));
    }
  } else if (reader.has("count")) {
    reader.refuse("has 'count' without 'range'", "both");
  }
  if (reader.has("uniform")) {
    ++given, out.kind = Values::uniform, out.values = reader.numbers("uniform", 2);
  }
  if (reader.has("normal")) {
    ++given, out.kind = Values::normal, out.values = reader.numbers("normal", 2);
    if (out.values[1] < 0.0) reader.refuse("has a negative deviation", "one not below zero");
  }
  if (given != 1) {
    reader.refuse("has " + std::to_string(given) + " of list, range, uniform and normal", "one");
  }
  return out;
}

SweepRecord read_record(const std::string& file, const std::string& name, const YAML::Node& node) {
  const PlanReader reader(file, node, "record '" + name + "'");
  reader.expect_keys({"result", "row", "reduce"});
  SweepRecord out;
  out.name = name;
  out.result = reader.get<std::string>("result");
  out.row = reader.get<std::string>("row", std::string());
  const auto reduce =
      reader.get<std::string>("reduce", std::string(out.row.empty() ? "max_abs" : "entry"));
  using Reduction = SweepRecord::Reduction;
  if (reduce == "entry") {
    out.reduction = Reduction::entry;
  } else if (reduce == "max_abs") {
    out.reduction = Reduction::max_abs;
  } else if (reduce == "norm") {
    out.reduction = Reduction::norm;
  } else {
    throw usage_error(reader.where() + ": reduce is '" + reduce + "'" +
                      suggest(reduce, {"entry", "max_abs", "norm"}));
  }
  if (!out.row.empty() && out.reduction != Reduction::entry) {
    reader.refuse("has row '" + out.row + "' and reduce '" + reduce + "'",
                  "one of them (a row is one number)");
  }
  return out;
}

}  // namespace

SweepPlan SweepPlan::read(const std::string& file) {
  YAML::Node document;
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(file, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw usage_error(file + ": sweep file is " +
                      (std::filesystem::is_directory(status) ? "a folder" : "not a regular file") +
                      ", expected a YAML file");
  }
  try {
    document = YAML::LoadFile(file);
  } catch (const YAML::BadFile&) {
    throw usage_error(file + ": sweep file is missing or unreadable, expected a YAML file");
  } catch (const YAML::Exception& error) {
    throw usage_error(file + ":" + std::to_string(error.mark.line + 1) + ": " + error.msg +
                      ", expected YAML");
  }
  const PlanReader reader(file, document, "the sweep");
  reader.expect_keys({"robot", "root", "mimic", "problem", "algorithm", "seed", "parameters",
                      "samples", "states", "record"});
  SweepPlan plan;
  plan.file = file;
  const std::filesystem::path robot = reader.get<std::string>("robot");
  plan.robot = robot.is_absolute() ? robot.string()
                                   : (std::filesystem::path(file).parent_path() / robot).string();
  const auto choice = [&](const char* key, const char* first, const char* second) {
    const auto word = reader.get<std::string>(key, std::string(first));
    if (word != first && word != second) {
      throw usage_error(reader.where() + ": " + key + " is '" + word + "'" +
                        suggest(word, {first, second}));
    }
    return word == first;
  };
  using Options = CompileOptions;
  if (reader.has("root")) {
    plan.options.root =
        choice("root", "fixed", "floating") ? Options::Root::fixed : Options::Root::floating;
  }
  plan.options.mimic =
      choice("mimic", "honour", "ignore") ? Options::MimicRule::honour : Options::MimicRule::ignore;
  plan.problem = reader.get<std::string>("problem", std::string("forward-dynamics"));
  plan.algorithm = reader.get<std::string>("algorithm");
  plan.seed = reader.get<unsigned long long>("seed", 1ULL);
  plan.samples = reader.get<int>("samples", 1);
  if (plan.samples < 1) {
    reader.refuse("has " + std::to_string(plan.samples) + " samples", "at least 1");
  }
  if (reader.has("states")) {
    const PlanReader states(file, reader["states"], "states");
    states.expect_keys({"random"});
    plan.random_states = states.get<int>("random");
    if (plan.random_states < 1) states.refuse("are less than one", "at least 1");
  }
  if (reader.has("parameters")) {
    const PlanReader parameters(file, reader["parameters"], "parameters");
    for (const std::string& name : parameters.keys()) {
      plan.parameters.push_back(read_parameter(file, name, parameters[name]));
    }
  }
  if (!reader.has("record")) reader.refuse("has no 'record'", "numbers to record");
  const PlanReader records(file, reader["record"], "record");
  for (const std::string& name : records.keys()) {
    plan.records.push_back(read_record(file, name, records[name]));
  }
  if (plan.records.empty()) records.refuse("is empty", "numbers to record");
  std::vector<std::string> taken;
  for (const std::string& name : plan.columns()) {
    if (std::find(taken.begin(), taken.end(), name) != taken.end()) {
      reader.refuse("has two columns of the name '" + name + "'",
                    "parameters and records of names that differ (design, state and error are "
                    "there by themselves)");
    }
    taken.push_back(name);
  }
  return plan;
}

std::vector<std::string> SweepPlan::columns() const {
  std::vector<std::string> out{"design", "state"};
  for (const SweepParameter& p : parameters) out.push_back(p.name);
  for (const SweepRecord& r : records) out.push_back(r.name);
  out.emplace_back("error");
  return out;
}

void SweepPlan::expect_effect(Description& description) const {
  std::map<const double*, std::string> driven;
  for (const SweepParameter& p : parameters) {
    std::set<const double*> own;
    for (const std::string& target : p.targets) {
      const double* number = &number_of(description, target, "sweep");
      const bool twice = !own.insert(number).second;
      const auto [other, is_new] = driven.try_emplace(number, p.name);
      // Factors may follow a value or other factors: they multiply.
      if (!twice && (is_new || p.scales)) continue;
      throw usage_error(file + ": parameter '" + p.name + "': target '" + target + "' is driven " +
                        (twice ? "twice by it" : "by parameter '" + other->second + "', too") +
                        ", expected once");
    }
  }
}

long SweepPlan::designs() const {
  long count = samples;
  for (const SweepParameter& p : parameters) {
    if (p.kind != SweepParameter::Values::list) continue;
    const long size = static_cast<long>(p.values.size());
    if (count > std::numeric_limits<int>::max() / size) {
      throw usage_error(file + ": number of designs is more than " +
                        std::to_string(std::numeric_limits<int>::max()) + ", expected fewer");
    }
    count *= size;
  }
  return count;
}

std::vector<double> SweepPlan::values(long design) const {
  // A generator of the design's own: its seed goes through the generator of the sweep's once, so
  // that neighbours have nothing in common.
  UniformNumbers seeds(seed * 0x9E3779B97F4A7C15ULL + static_cast<unsigned long long>(design));
  UniformNumbers uniform(static_cast<unsigned long long>(seeds.between(0.0, 0x1.0p53)));
  long rest = design / samples;
  std::vector<double> out;
  for (const SweepParameter& p : parameters) {
    if (p.kind == SweepParameter::Values::list) {
      const long size = static_cast<long>(p.values.size());
      out.push_back(p.values[rest % size]);
      rest /= size;
    } else if (p.kind == SweepParameter::Values::uniform) {
      out.push_back(uniform.between(p.values[0], p.values[1]));
    } else {  // Box and Muller (1958)
      const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform.between(0.0, 1.0)));
      const double angle = uniform.between(0.0, 2.0 * std::numbers::pi);
      out.push_back(p.values[0] + p.values[1] * radius * std::cos(angle));
    }
  }
  return out;
}

void set_parameter(Description& robot, const std::string& target, double value, bool scales) {
  double& number = number_of(robot, target, "sweep");
  number = scales ? number * value : value;
}

}  // namespace espalier::cli
