#include <pybind11/stl.h>

#include "arrays.hpp"
#include "espalier/kernel/graph/mechanism_graphs.hpp"
#include "espalier/kernel/model/motion/passive.hpp"
#include "espalier/kernel/model/motion/quaternions.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/uniform.hpp"

namespace espalier::python {

namespace {

Asker asker_of(const Robot& robot, const char* what) {
  return {std::string(what) + " of '" + robot.model->name() + "'"};
}

/// Position q of the robot as a vector. @throws SizeMismatch; InvalidModel for a quaternion of
/// zeros
std::vector<double> position(const Robot& robot, const char* what, py::handle q) {
  std::vector<double> x = vector_of(q, "q", robot.model->nq(), asker_of(robot, what));
  expect_directions(asker_of(robot, what).who, *robot.model, x.data());
  return x;
}

py::array_t<double> array_of(const std::vector<double>& x) {
  return python::array_of(x.data(), {static_cast<py::ssize_t>(x.size())});
}

py::dict describe(const Closure& c) {
  py::dict out;
  out["verdict"] = std::string(to_string(c.verdict));
  out["residual"] = c.residual;
  out["margin"] = c.margin;
  out["reached"] = c.reached;
  out["cluster"] = c.cluster;
  out["better"] = c.better;
  out["text"] = c.text();
  return out;
}

py::list joints(const Robot& robot) {
  py::list out;
  for (const Joint& j : robot.model->joints()) {
    py::dict item;
    item["name"] = j.name;
    item["type"] = j.type;
    item["q"] = j.q;
    item["nq"] = j.nq;
    item["nv"] = j.nv;
    item["rate"] = j.v;
    item["independent"] = j.independent >= 0 ? py::object(py::int_(j.independent)) : py::none();
    item["lower"] = j.limits.lower;
    item["upper"] = j.limits.upper;
    item["velocity"] = j.limits.velocity;
    item["effort"] = j.limits.effort;
    item["body"] = j.body;
    out.append(item);
  }
  return out;
}

py::list links(const Robot& robot) {
  py::list out;
  for (const Link& l : robot.model->links()) {
    py::dict item;
    item["name"] = l.name;
    item["mass"] = l.mass;
    item["body"] = l.body;
    out.append(item);
  }
  return out;
}

py::list clusters(const Robot& robot) {
  const Model& model = *robot.model;
  py::list out;
  for (const Cluster& c : model.clusters()) {
    std::vector<std::string> names, supports;
    const int index = static_cast<int>(&c - model.clusters().data());
    for (const Joint& j : model.joints()) {
      if (model.body(j.body).cluster == index) names.push_back(j.name);
    }
    for (const int body : c.supports) supports.push_back(model.body_names()[body]);
    py::dict item;
    item["name"] = c.name;
    item["parent"] = c.parent >= 0 ? py::object(py::int_(c.parent)) : py::none();
    item["joints"] = names;
    item["supports"] = supports;
    item["bodies"] = c.count + c.rotors;
    item["start"] = c.v;
    item["nv"] = c.nv;
    item["constrained"] = c.constrained;
    item["implicit"] = c.implicit;
    item["constraints"] = c.constraints;
    item["recognised"] = c.recognised;
    out.append(item);
  }
  return out;
}

/// Spanning rates of the independent rates v, at q.
py::array_t<double> spanning_rates(const Robot& robot, py::handle q, py::handle v) {
  const auto at = position(robot, "spanning_rates", q);
  const auto rates = vector_of(v, "v", robot.model->nv(), asker_of(robot, "spanning_rates"));
  SpanningMotion<double> motion(*robot.model);
  motion.update(at.data(), rates.data());
  const std::vector<double> qd(motion.qd(), motion.qd() + robot.model->spanning_nv());
  return array_of(qd);
}

using RobotClass = py::class_<Robot>;

void bind_numbers(RobotClass& robot) {
  robot.def_property_readonly("host", [](const Robot& r) { return r.host; });
  robot.def_property_readonly(
      "description", [](const Robot& r) { return std::make_shared<Description>(*r.description); });
  robot.def_property_readonly("options", [](const Robot& r) {
    using Options = CompileOptions;
    py::dict out;
    out["root"] = root_of(*r.description, r.options) == Options::Root::fixed ? "fixed" : "floating";
    out["mimic"] = r.options.mimic == Options::MimicRule::honour ? "honour" : "ignore";
    out["rotors"] = r.options.rotors == Options::Rotors::fold ? "fold" : "keep";
    return out;
  });
  robot.def_property_readonly("name", [](const Robot& r) { return r.model->name(); });
  robot.def_property_readonly("nq", [](const Robot& r) { return r.model->nq(); });
  robot.def_property_readonly("nv", [](const Robot& r) { return r.model->nv(); });
  robot.def_property_readonly("spanning_nv", [](const Robot& r) { return r.model->spanning_nv(); });
  robot.def_property_readonly("body_count", [](const Robot& r) { return r.model->body_count(); });
  robot.def_property_readonly("mass", [](const Robot& r) { return r.model->mass(); });
  robot.def_property_readonly("is_tree", [](const Robot& r) { return r.model->is_tree(); });
  robot.def_property_readonly("has_loops",
                              [](const Robot& r) { return r.model->has_variable_constraints(); });
  robot.def_property_readonly("gravity", [](const Robot& r) {
    const Vec3<double> g = r.model->gravity();
    return py::make_tuple(g.x, g.y, g.z);
  });
}

void bind_structure(RobotClass& robot) {
  robot.def("joints", &joints);
  robot.def("links", &links);
  robot.def("clusters", &clusters);
  robot.def("coordinates", [](const Robot& r) {
    py::list out;
    for (const Coordinate& c : r.model->coordinates()) {
      out.append(py::make_tuple(c.name, c.joint, c.start, c.size, c.component));
    }
    return out;
  });
  robot.def("independent_rates", [](const Robot& r) {
    const auto rates = r.model->independent_rates();
    return std::vector<int>(rates.begin(), rates.end());
  });
  robot.def("dot", [](const Robot& r, const std::string& kind) {
    const graph::MechanismGraphs& g = r.model->graphs();
    if (kind == "connectivity") return graph::connectivity_dot(g.connectivity, &g.tree);
    if (kind == "tree") return graph::tree_dot(g.connectivity, g.tree);
    if (kind == "clusters") return graph::cluster_dot(g.connectivity, g.clusters);
    if (kind == "subsystems") return graph::subsystem_dot(g.subsystems());
    throw UnknownName("dot: graph is '" + kind + "'" +
                      suggest(kind, {"connectivity", "tree", "clusters", "subsystems"}));
  });
  robot.def("tips", [](const Robot& r) {
    std::vector<std::string> out;
    for (const EndEffector& e : tips(*r.model)) out.push_back(e.link);
    return out;
  });
}

void bind_positions(RobotClass& robot) {
  robot.def("neutral", [](const Robot& r) {
    std::vector<double> q(r.model->nq());
    r.model->neutral(q.data());
    return array_of(q);
  });
  robot.def("random", [](const Robot& r, unsigned long long seed) {
    std::vector<double> q(r.model->nq());
    r.model->random(seed, q.data());
    return array_of(q);
  });
  robot.def("normalize", [](const Robot& r, py::handle q) {
    auto x = position(r, "normalize", q);
    r.model->normalize(x.data());
    return array_of(x);
  });
  robot.def("integrate", [](const Robot& r, py::handle q, py::handle v) {
    auto x = position(r, "integrate", q);
    const auto rates = vector_of(v, "v", r.model->spanning_nv(), asker_of(r, "integrate"));
    r.model->integrate(x.data(), rates.data(), x.data());
    return array_of(x);
  });
  robot.def("difference", [](const Robot& r, py::handle from, py::handle to) {
    const auto a = position(r, "difference", from), b = position(r, "difference", to);
    std::vector<double> v(r.model->spanning_nv());
    r.model->difference(a.data(), b.data(), v.data());
    return array_of(v);
  });
  robot.def("spanning_rates", &spanning_rates);
  robot.def("couple", [](const Robot& r, py::handle q) {
    auto x = position(r, "couple", q);
    r.model->apply_couplings(x.data());
    return array_of(x);
  });
}

void bind_closure(RobotClass& robot) {
  robot.def("close", [](const Robot& r, py::handle start, py::handle q) {
    const auto from = position(r, "close", start);
    auto x = position(r, "close", q);
    Closure closure;
    {
      WithoutGil released;
      closure = close(*r.model, from.data(), x.data());
    }
    return py::make_tuple(array_of(x), describe(closure));
  });
  const auto moves = [&robot](const char* name, auto function) {
    robot.def(name, [name, function](const Robot& r, py::handle q) {
      auto x = position(r, name, q);
      Closure closure;
      {
        WithoutGil released;
        closure = function(*r.model, x.data());
      }
      return py::make_tuple(array_of(x), describe(closure));
    });
  };
  moves("project", [](const Model& m, double* q) { return project(m, q); });
  moves("assemble", [](const Model& m, double* q) { return assemble(m, q); });
  moves("examine", [](const Model& m, double* q) { return examine(m, q); });
}

}  // namespace

void bind_model(py::module_& module) {
  auto robot = RobotClass(module.attr("Robot"));
  bind_numbers(robot);
  bind_structure(robot);
  bind_positions(robot);
  bind_closure(robot);
  robot.def("passive_forces", [](const Robot& r, py::handle q, py::handle v) {
    const auto x = position(r, "passive_forces", q);
    const auto rates = vector_of(v, "v", r.model->nv(), asker_of(r, "passive_forces"));
    std::vector<double> tau(r.model->nv());
    PassiveForces(r.model).evaluate(x.data(), rates.data(), tau.data());
    return array_of(tau);
  });
  module.def("uniform", [](unsigned long long seed, int n) {
    UniformNumbers uniform(seed);
    std::vector<double> x(n);
    for (double& one : x) one = uniform();
    return array_of(x);
  });
}

}  // namespace espalier::python
