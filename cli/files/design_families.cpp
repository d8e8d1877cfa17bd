#include "cli/files/design_families.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "cli/files/robot_numbers.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier::cli {

namespace {

/// Of a number, how far its neighbours are: differences of second order over them are then good to
/// 1e-9, and rounding in them is 1e-11.
constexpr double step = 3e-5;

/// What constraints are made of, or, where there are none, the masses.
std::vector<std::string> default_targets(const Description& robot) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& part, const Parameters& parameters) {
    for (const auto& [key, values] : parameters) {
      for (std::size_t k = 0; k < values.size(); ++k) {
        out.push_back(part + "." + key + (values.size() == 1 ? "" : "[" + std::to_string(k) + "]"));
      }
    }
  };
  for (const auto& x : robot.couplings) out.push_back("couplings." + x.name + ".ratio");
  for (const auto& x : robot.laws) add("laws." + x.name, x.parameters);
  for (const auto& x : robot.loops) add("loops." + x.name, x.parameters);
  if (!out.empty()) return out;
  for (const auto& x : robot.links) {
    if (x.inertial) out.push_back("links." + x.name + ".mass");
  }
  return out;
}

}  // namespace

void DesignOption::add_to(CLI::App& app) {
  app.add_option("--design", texts_,
                 "for design-variation: numbers of the file that change together by the same "
                 "amount, [NAME=]TARGET[,TARGET...], with targets as in 'sweep --help'; may be "
                 "repeated; default: every number of couplings, laws and loops, or the links' "
                 "masses if there is none")
      ->type_name("DESIGN");
}

bool DesignOption::is_for(std::string_view problem) {
  return problem == DesignVariation<double>::problem;
}

void DesignOption::take(const std::string& text, Design& design) {
  const auto refuse = [&](const std::string& why) {
    throw usage_error("--design is '" + text + "'" + why);
  };
  const std::size_t equals = text.find('=');
  design.name = text.substr(0, equals);
  std::istringstream rest(equals == std::string::npos ? text : text.substr(equals + 1));
  for (std::string target; std::getline(rest, target, ',');) {
    const auto& all = design.targets;
    if (std::find(all.begin(), all.end(), target) != all.end()) {
      refuse(": target '" + target + "' is given twice, expected once");
    }
    design.targets.push_back(target);
  }
  if (design.targets.empty() || design.name.empty()) refuse(", expected [NAME=]TARGET[,TARGET...]");
}

void DesignOption::compile(Session& session, const ModelArguments& model) {
  if (std::exchange(compiled_, true)) return;
  const Host& host = session.host();
  const Description robot = host.read(model.file, model.reading);
  const bool asked = !texts_.empty();
  for (const std::string& text : asked ? texts_ : default_targets(robot)) {
    Design design;
    if (asked) {
      take(text, design);
    } else {
      design.name = text, design.targets = {text};  // names may hold commas
    }
    double size = 0.0;
    Description copy = robot;
    for (const std::string& target : design.targets) {
      size = std::max(size, std::abs(number_of(copy, target, "--design")));
    }
    const double h = step * (size > 0.0 ? size : 1.0);
    const auto neighbour = [&](double by) {
      Description other = robot;
      for (const std::string& target : design.targets) number_of(other, target, "--design") += by;
      return host.compile(other, model.options);
    };
    try {
      design.more = neighbour(h), design.apart = 2.0 * h;
      try {
        design.less = neighbour(-h);
      } catch (const Error&) {
        // At the lower end of its range, as an armature of 0. Numbers that have such an end enter
        // the dynamics linearly, where a difference to one side is exact.
        design.less = host.compile(robot, model.options), design.apart = h;
      }
    } catch (const Error& error) {
      if (!asked) continue;  // a number that selects, or at the upper end of its range
      throw usage_error("--design is '" + text + "': no robot has the number " +
                        espalier::text::number(h) +
                        " above the file's, expected one that may vary: " + error.what());
    }
    designs_.push_back(std::move(design));
  }
}

void DesignOption::add_families(Session& session, const ModelArguments& model,
                                Algorithm& algorithm) {
  auto* variation = dynamic_cast<DesignVariation<double>*>(&algorithm);
  if (variation == nullptr) return;
  compile(session, model);
  for (const Design& d : designs_) {
    try {
      variation->add({d.name, d.less, d.more, d.apart});
    } catch (const Error&) {
      if (!texts_.empty()) throw;
    }
  }
}

}  // namespace espalier::cli
