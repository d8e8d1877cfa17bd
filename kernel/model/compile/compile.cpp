#include "espalier/kernel/model/compile/compiler.hpp"

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/graph/kept_graphs.hpp"
#include "espalier/kernel/guard.hpp"

namespace espalier {

Compiler::Compiler(const Description& robot, const ModelTypes& types, const CompileOptions& options)
    : robot_(robot), types_(types), options_(options), model_(new Model) {
  options_.root = root_of(robot, options);
  model_->pack_code_ = types.late_pack_code();
  model_->extras_ = extras_;
  for (Finding finding : robot.findings) {
    const bool error = finding.severity == Finding::Severity::error;
    if (finding.negotiable && (error ? options.lenient : options.strict)) {
      finding.severity = error ? Finding::Severity::warning : Finding::Severity::error;
    }
    findings_.add(std::move(finding));
  }
}

void Compiler::run() {
  try {
    run_passes();
  } catch (const Error& error) {  // of a joint type, or of the graph
    findings_.error(robot_.where, error.what());
  } catch (...) {  // of a plugin
    blame_plugin();
  }
}

/// What was thrown that is no error of ours.
void Compiler::blame_plugin() {
  try {
    detail::blame("robot '" + robot_.name + "'", "code of the types of its joints, loops or laws");
  } catch (const Error& error) {
    findings_.error(robot_.where, error.what());
  }
}

std::shared_ptr<const Model> Compiler::take() {
  extras_->warnings = findings_.take();
  return std::move(model_);
}

void Compiler::run_passes() {
  detail::validate(robot_, types_, options_, findings_);
  if (findings_.failed()) return;
  index_links();
  find_root();
  if (findings_.failed()) return;
  fold_fixed_joints();
  if (findings_.failed()) return;
  connect();
  if (findings_.failed()) return;
  cluster();
  if (findings_.failed()) return;
  place_bodies();
  lay_out_coordinates();
  make_runs();
  if (findings_.failed()) return;
  tie_clusters();
  if (findings_.failed()) return;
  index_names();
  check_inertia();
  model_->graphs_ = std::make_shared<graph::KeptGraphs>(graph_, robot_.subsystems);
}

std::shared_ptr<const Model> Model::compile(const Description& description, const ModelTypes& types,
                                            const CompileOptions& options) {
  Compiler compiler(description, types, options);
  compiler.run();
  compiler.findings().throw_if_failed(description.name);
  return compiler.take();
}

const graph::MechanismGraphs& Model::graphs() const { return graphs_->graphs(); }

std::vector<Finding> diagnose(const Description& description, const ModelTypes& types,
                              const CompileOptions& options) {
  Compiler compiler(description, types, options);
  compiler.run();
  return compiler.findings().take();
}

}  // namespace espalier
