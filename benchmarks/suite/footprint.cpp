#include "benchmarks/suite/footprint.hpp"

#include "benchmarks/chain.hpp"
#include "benchmarks/suite/robots.hpp"
#include "cli/allocations.hpp"
#include "espalier/kernel/format.hpp"

namespace espalier::bench {

namespace {

/// Bytes that stay on the heap when something is made a second time: the first may fill tables that
/// are shared by all.
template <class F>
double bytes_of(F&& make) {
  const auto first = make();
  const long before = *cli::held_bytes();
  const auto second = make();
  return static_cast<double>(*cli::held_bytes() - before);
}

template <class P>
Footprint of_algorithm(const Host& host, const std::string& name, const ModelPtr& model,
                       const std::vector<RandomState>& states) {
  Footprint f;
  f.algorithm = name;
  f.workspace_bytes = bytes_of([&] { return host.create<P>(name, model); });
  const auto algorithm = host.create<P>(name, model);
  std::vector<double> out(model->nv());
  const std::optional<long> before = cli::allocation_count();
  for (const RandomState& s : states) {
    const std::vector<double>& third =
        P::problem == ForwardDynamics<double>::problem ? s.tau : s.vdot;
    algorithm->evaluate(s.q, s.v, third, out);
  }
  f.allocations = *cli::allocation_count() - *before;
  return f;
}

void add(const Host& host, const std::string& name, const Description& description,
         const CompileOptions& options, std::vector<Footprint>& all) {
  const ModelPtr model = host.compile(description, options);
  const std::vector<RandomState> states = random_states(*model);
  const double model_bytes = bytes_of([&] { return host.compile(description, options); });
  const bool tree = model->is_tree();
  for (Footprint f :
       {of_algorithm<ForwardDynamics<double>>(host, tree ? "aba" : "c-aba", model, states),
        of_algorithm<InverseDynamics<double>>(host, tree ? "rnea" : "c-rnea", model, states)}) {
    f.robot = name;
    f.bodies = model->body_count();
    f.model_bytes = model_bytes / f.bodies;
    f.workspace_bytes /= f.bodies;
    all.push_back(f);
  }
}

}  // namespace

std::vector<Footprint> footprints(const Host& host) {
  std::vector<Footprint> all;
  if (!cli::held_bytes()) return all;
  CompileOptions floating;
  floating.root = CompileOptions::Root::floating;
  for (const char* file : {"humanoid.urdf", "tello.yaml"}) {
    const std::string path = std::string(ESPALIER_SOURCE_DIR "/robots/") + file;
    add(host, std::string(file).substr(0, std::string(file).find('.')), host.read(path), floating,
        all);
  }
  for (const int bodies : {10, 100, 500}) {
    const std::string name = chain_name(bodies);
    const Format& format = host.registry().format_for("chain.urdf");
    add(host, name, format.read(chain_urdf(bodies), "chain.urdf"), {}, all);
  }
  return all;
}

}  // namespace espalier::bench
