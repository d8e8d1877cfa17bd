#include "cli/files/positions.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>

#include "cli/command.hpp"
#include "cli/files/json_form.hpp"
#include "espalier/kernel/model/loops/loop_projector.hpp"

namespace espalier::cli {

namespace {

/// Margins below this are near a dead point: four digits are lost of dependent rates, and what is
/// nearer to it than a step of usual length is passed unseen.
constexpr double near_dead_point = 1e-3;

Json by_joint(const Model& model, const std::vector<double>& q) {
  Json out = Json::object();
  for (const Joint& joint : model.joints()) {
    const auto first = q.begin() + joint.q;
    if (joint.nq == 1) {
      out[joint.name] = *first;
    } else {
      out[joint.name] = std::vector<double>(first, first + joint.nq);
    }
  }
  return out;
}

/// joint=number,number,...
void set(const Model& model, const std::string& text, double* q) {
  const std::size_t split = text.find('=');
  std::vector<double> values;
  try {
    if (split == std::string::npos) throw std::invalid_argument("no =");
    for (std::size_t at = split; at < text.size();) {
      std::size_t used = 0;
      values.push_back(std::stod(text.substr(at + 1), &used));
      at += 1 + used;
      if (at < text.size() && text[at] != ',') throw std::invalid_argument("no comma");
    }
  } catch (const std::logic_error&) {
    throw usage_error("--set is '" + text + "', expected JOINT=NUMBER (or numbers with commas)");
  }
  const JsonForm form{"--set"};
  const Joint& joint = form.joint(model, "q", text.substr(0, split));
  form.numbers(values.size() == 1 ? Json(values[0]) : Json(values),
               "q of joint '" + joint.name + "'", joint.nq, q + joint.q);
}

}  // namespace

void read_positions(const Model& model, const std::optional<std::string>& file,
                    const std::vector<std::string>& sets, std::vector<double>& q) {
  if (file) {
    const JsonForm form{*file == "-" ? "standard input" : *file};
    const Json document = parse_json(*file, "state");
    form.object(document, "state");
    if (document.contains("q")) {
      for (const auto& [name, x] : form.object(document["q"], "'q'").items()) {
        const Joint& joint = form.joint(model, "q", name);
        form.numbers(x, "q of joint '" + name + "'", joint.nq, q.data() + joint.q);
      }
    }
  }
  for (const std::string& text : sets) set(model, text, q.data());
  model.normalize(q.data());
}

int report_closure(Session& session, const Model& model, const Closure& closure,
                   const std::vector<double>& q, const std::optional<std::string>& output) {
  const Json positions = by_joint(model, q);
  const bool closed = closure.verdict == Closure::Verdict::closed;
  if (output) write_file(*output, Json{{"q", positions}}.dump(2) + "\n");
  if (session.json) {
    Json out{{"model", model.name()},        {"verdict", to_string(closure.verdict)},
             {"residual", closure.residual}, {"singularity_margin", closure.margin},
             {"reached", closure.reached},   {"cluster", closure.cluster},
             {"better", closure.better},     {"q", positions}};
    if (output) out["output"] = *output;
    session.print(out);
    return closed ? ok : unusable;
  }
  std::string text = fmt::format("{}: {}\n\n", model.name(), closure.text());
  std::size_t width = 0;
  for (const Joint& joint : model.joints()) width = std::max(width, joint.name.size());
  for (const Joint& joint : model.joints()) {
    text += fmt::format("  {:{}}", joint.name, width);
    for (int k = 0; k < joint.nq; ++k) text += fmt::format("  {: .9g}", q[joint.q + k]);
    text += joint.independent < 0 ? "\n" : "  independent\n";
  }
  if (output) text += *output + ": written\n";
  session.print(text);
  return closed ? ok : unusable;
}

void warn_near_dead_points(Session& session, const Model& model, const std::vector<double>& q,
                           const std::string& where) {
  if (!model.has_variable_constraints()) return;
  LoopProjector loops(std::shared_ptr<const Model>(std::shared_ptr<void>(), &model));
  if (!(loops.residual(q.data()) <= 1e-3)) return;  // open loops are told elsewhere
  for (int i = 0; i < loops.loop_count(); ++i) {
    const IndependentChoice& choice = loops.look(i);
    // Gears make the margin of every choice small: what counts is that others are better, or that
    // none is far from zero.
    const bool singular = choice.best() < 0.1 * near_dead_point;
    const bool poor = choice.present() < 0.05 * choice.best();
    if (choice.present() >= near_dead_point || !(singular || poor)) continue;
    const Cluster& c = model.clusters()[loops.cluster_of(i)];
    std::string better;
    for (const std::string& name : better_independents(model, q.data(), c.name)) {
      better += (better.empty() ? "'" : ", '") + name + "'";
    }
    session.warn(
        {Finding::Severity::warning,
         "cluster '" + c.name + "': at " + where + " its independent joints are " +
             "near a dead point, singularity margin " + fmt::format("{:.3g}", choice.present()) +
             ", expected at least " + fmt::format("{:g}", near_dead_point) +
             (singular ? " (the mechanism itself is nearly singular there)"
                       : " (independent joints that determine the others there: " + better + ")"),
         ""});
  }
}

}  // namespace espalier::cli
