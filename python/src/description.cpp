#include <pybind11/stl.h>

#include <algorithm>

#include "robot.hpp"

// A Description in Python: parts are found by name at every access, so that a part that was removed
// is an error and never a dangling pointer.

namespace espalier::python {

namespace {

using Owner = std::shared_ptr<Description>;
using Triple = std::array<double, 3>;

// Values of several numbers or names are read as tuples: a list could be edited in place, which
// would change a copy.
py::tuple triple(const Vec3<double>& x) { return py::make_tuple(x.x, x.y, x.z); }
Vec3<double> vec(const Triple& x) { return {x[0], x[1], x[2]}; }

/// One part of a Description, by its name.
template <class P, auto list>
struct Part {
  Owner owner;
  std::string name;

  P& get() const {
    auto& all = (*owner).*list;
    const auto found = std::find_if(all.begin(), all.end(), [&](P& p) { return p.name == name; });
    if (found != all.end()) return *found;
    std::vector<std::string> known;
    for (const P& p : all) known.push_back(p.name);
    throw UnknownName("description of '" + owner->name + "': part '" + name + "' is unknown" +
                      suggest(name, known));
  }
};
using LinkPart = Part<LinkDescription, &Description::links>;
using JointPart = Part<JointDescription, &Description::joints>;
using LoopPart = Part<LoopDescription, &Description::loops>;
using CouplingPart = Part<CouplingDescription, &Description::couplings>;
using LawPart = Part<LawDescription, &Description::laws>;

/// What a member of this type is set to.
template <class X>
constexpr const char* wanted = "a number";
template <>
constexpr const char* wanted<std::string> = "a text";
template <>
constexpr const char* wanted<std::vector<std::string>> = "a list of names";
template <>
constexpr const char* wanted<std::vector<double>> = "a number or several";
template <>
constexpr const char* wanted<Triple> = "three numbers";
template <>
constexpr const char* wanted<std::array<Triple, 3>> = "3 x 3 numbers";
template <>
constexpr const char* wanted<std::optional<double>> = "a number or None";
template <>
constexpr const char* wanted<std::optional<bool>> = "True, False or None";
using Follows = std::tuple<std::string, double, double>;
template <>
constexpr const char* wanted<std::optional<Follows>> = "(joint, multiplier, offset) or None";

/// A value from Python for what is called `name` of a part.
/// @throws py::type_error
template <class X>
X taken(const std::string& part, const char* name, const py::object& value) {
  try {
    return py::cast<X>(value);
  } catch (const py::cast_error&) {
    throw py::type_error("'" + part + "': " + name + " is " + std::string(py::repr(value)) +
                         ", expected " + wanted<X>);
  }
}

/// A property of a part's member, or of a member of that.
template <auto member, class P>
void field(py::class_<P>& c, const char* name, const char* doc) {
  using X = std::decay_t<decltype(std::declval<P>().get().*member)>;
  c.def_property(
      name, [](const P& p) { return p.get().*member; },
      [name](const P& p, const py::object& x) { p.get().*member = taken<X>(p.name, name, x); },
      doc);
}
template <auto outer, auto member, class P>
void field_in(py::class_<P>& c, const char* name, const char* doc) {
  using X = std::decay_t<decltype((std::declval<P>().get().*outer).*member)>;
  if constexpr (std::is_same_v<X, Vec3<double>>) {
    c.def_property(
        name, [](const P& p) { return triple((p.get().*outer).*member); },
        [name](const P& p, const py::object& x) {
          (p.get().*outer).*member = vec(taken<Triple>(p.name, name, x));
        },
        doc);
  } else {
    c.def_property(
        name, [](const P& p) { return (p.get().*outer).*member; },
        [name](const P& p, const py::object& x) {
          (p.get().*outer).*member = taken<X>(p.name, name, x);
        },
        doc);
  }
}
template <class P>
void axis_field(py::class_<P>& c) {
  c.def_property(
      "axis", [](const P& p) { return triple(p.get().axis); },
      [](const P& p, const py::object& x) { p.get().axis = vec(taken<Triple>(p.name, "axis", x)); },
      "Axis, joint frame.");
}

template <class P>
void common(py::class_<P>& c) {
  c.def_property_readonly("name", [](const P& p) { return p.name; });
  c.def_property_readonly(
      "where", [](const P& p) { return p.get().where.text(); }, "file:line, or empty.");
}

/// Parameters are read as a dict of their own and written as a whole.
template <class P>
void parameters(py::class_<P>& c) {
  c.def_property(
      "parameters",
      [](const P& p) {
        py::dict out;
        for (const auto& [key, values] : p.get().parameters) {
          if (values.size() == 1) {
            out[py::str(key)] = values.front();
          } else {
            out[py::str(key)] = py::tuple(py::cast(values));
          }
        }
        return py::module_::import("types").attr("MappingProxyType")(out);
      },
      [](const P& p, const py::dict& given) {
        Parameters all;
        for (const auto& [key, value] : given) {
          const bool several = !py::isinstance<py::str>(value) && py::hasattr(value, "__len__");
          const std::string name = key.cast<std::string>();
          const auto numbers = py::reinterpret_borrow<py::object>(value);
          all[name] = several ? taken<std::vector<double>>(p.name, name.c_str(), numbers)
                              : std::vector<double>{taken<double>(p.name, name.c_str(), numbers)};
        }
        p.get().parameters = std::move(all);
      },
      "Numbers by name, to be read; assign a dict to change them.");
}

Inertial& inertial(const LinkPart& p) {
  std::optional<Inertial>& inertial = p.get().inertial;
  if (!inertial) inertial.emplace();
  return *inertial;
}

/// Inertia about the centre of mass in link axes: that of the frame `origin`, turned.
py::tuple inertia_matrix(const LinkPart& p) {
  Inertial about_com = p.get().inertial.value_or(Inertial{});
  about_com.origin.xyz = {0, 0, 0};
  const Sym3<double> I = about_com.about_link().I;
  return py::make_tuple(triple({I.xx, I.xy, I.xz}), triple({I.xy, I.yy, I.yz}),
                        triple({I.xz, I.yz, I.zz}));
}

void set_inertia(const LinkPart& p, const py::object& value) {
  const auto I = taken<std::array<Triple, 3>>(p.name, "inertia", value);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < i; ++j) {
      if (I[i][j] == I[j][i]) continue;
      throw InvalidModel("link '" + p.name + "': inertia is not symmetric, expected a symmetric " +
                         "3 x 3 matrix about the centre of mass");
    }
  }
  Inertial& to = inertial(p);
  to.origin.rpy = {0, 0, 0};
  to.I = {I[0][0], I[0][1], I[0][2], I[1][1], I[1][2], I[2][2]};
}

template <class P, auto list, class C>
void add_list(C& description, const char* names, const char* get, const char* remove) {
  using Ref = Part<P, list>;
  description.def(names, [](const Description& d) {
    std::vector<std::string> out;
    for (const P& p : d.*list) out.push_back(p.name);
    return out;
  });
  description.def(get, [](const Owner& d, const std::string& name) {
    const Ref part{d, name};
    part.get();  // must be there
    return part;
  });
  description.def(remove, [](const Owner& d, const std::string& name) {
    const P* part = &Ref{d, name}.get();
    auto& all = (*d).*list;
    all.erase(all.begin() + (part - all.data()));
  });
}

template <class P>
P& added(std::vector<P>& all, const std::string& name, const Description& d) {
  for (const P& p : all) {
    if (p.name != name) continue;
    throw DuplicateName("description of '" + d.name + "': part '" + name +
                        "' is there already, expected another name");
  }
  P& p = all.emplace_back();
  p.name = name;
  return p;
}

void bind_link(py::module_& module) {
  py::class_<LinkPart> link(module, "LinkDescription", "A link of a Description.");
  common(link);
  link.def_property(
      "mass", [](const LinkPart& p) { return p.get().inertial ? p.get().inertial->mass : 0.0; },
      [](const LinkPart& p, const py::object& m) {
        inertial(p).mass = taken<double>(p.name, "mass", m);
      },
      "[kg]");
  link.def_property(
      "com",
      [](const LinkPart& p) {
        return triple(p.get().inertial ? p.get().inertial->origin.xyz : Vec3<double>{0, 0, 0});
      },
      [](const LinkPart& p, const py::object& x) {
        inertial(p).origin.xyz = vec(taken<Triple>(p.name, "com", x));
      },
      "Centre of mass, link frame [m].");
  link.def_property("inertia", &inertia_matrix, &set_inertia,
                    "3 x 3, about the centre of mass, link axes [kg·m²].");
}

void bind_joint(py::module_& module) {
  py::class_<JointPart> joint(module, "JointDescription", "A joint of a Description.");
  common(joint);
  using J = JointDescription;
  field<&J::type>(joint, "type", "Name of a registered joint type.");
  field<&J::parent>(joint, "parent", "Link that it hangs on.");
  field<&J::child>(joint, "child", "Link that hangs on it.");
  field_in<&J::origin, &Pose::xyz>(joint, "xyz", "Of the joint frame in the parent [m].");
  field_in<&J::origin, &Pose::rpy>(joint, "rpy", "Fixed-axis roll, pitch, yaw [rad].");
  axis_field(joint);
  field_in<&J::limits, &Limits::lower>(joint, "lower", "Least position, or None [rad, m].");
  field_in<&J::limits, &Limits::upper>(joint, "upper", "Largest position, or None [rad, m].");
  field_in<&J::limits, &Limits::velocity>(joint, "velocity", "Largest rate, or None.");
  field_in<&J::limits, &Limits::effort>(joint, "effort", "Largest force, or None [N·m, N].");
  field_in<&J::passive, &PassiveDynamics::damping>(joint, "damping", "[N·m·s/rad, N·s/m]");
  field_in<&J::passive, &PassiveDynamics::friction>(joint, "friction", "Dry friction [N·m, N].");
  field_in<&J::passive, &PassiveDynamics::stiffness>(joint, "stiffness", "[N·m/rad, N/m]");
  field_in<&J::passive, &PassiveDynamics::rest>(joint, "rest", "Where the spring rests [rad, m].");
  field<&J::armature>(joint, "armature", "Inertia added on its own rates [kg·m², kg].");
  field<&J::independent>(joint, "independent", "Whether its rates are; None: the kernel chooses.");
  joint.def_property(
      "mimic",
      [](const JointPart& p) -> py::object {
        const auto& m = p.get().mimic;
        if (!m) return py::none();
        return py::make_tuple(m->joint, m->multiplier, m->offset);
      },
      [](const JointPart& p, const py::object& x) {
        const auto m = taken<std::optional<Follows>>(p.name, "mimic", x);
        p.get().mimic.reset();
        if (m) p.get().mimic = Mimic{std::get<0>(*m), std::get<1>(*m), std::get<2>(*m)};
      },
      "(joint, multiplier, offset), or None.");
  parameters(joint);
}

void bind_constraints(py::module_& module) {
  py::class_<LoopPart> loop(module, "LoopDescription", "A joint that closes a kinematic loop.");
  common(loop);
  using O = LoopDescription;
  field<&O::type>(loop, "type", "Name of a registered joint type or loop joint.");
  field<&O::predecessor>(loop, "predecessor", "Link.");
  field<&O::successor>(loop, "successor", "Link.");
  field_in<&O::predecessor_origin, &Pose::xyz>(loop, "predecessor_xyz", "[m]");
  field_in<&O::predecessor_origin, &Pose::rpy>(loop, "predecessor_rpy", "[rad]");
  field_in<&O::successor_origin, &Pose::xyz>(loop, "successor_xyz", "[m]");
  field_in<&O::successor_origin, &Pose::rpy>(loop, "successor_rpy", "[rad]");
  axis_field(loop);
  parameters(loop);

  py::class_<CouplingPart> coupling(module, "CouplingDescription", "A constant coupling.");
  common(coupling);
  using C = CouplingDescription;
  field<&C::predecessor>(coupling, "predecessor", "Link.");
  field<&C::successor>(coupling, "successor", "Link.");
  field<&C::ratio>(coupling, "ratio", "ratio * (path to predecessor) = (path to successor).");

  py::class_<LawPart> law(module, "LawDescription", "A law between joint positions.");
  common(law);
  field<&LawDescription::type>(law, "type", "Name of a registered law.");
  law.def_property(
      "joints", [](const LawPart& p) { return py::tuple(py::cast(p.get().joints)); },
      [](const LawPart& p, const py::object& x) {
        p.get().joints = taken<std::vector<std::string>>(p.name, "joints", x);
      },
      "In the order of the law's positions.");
  parameters(law);
}

}  // namespace

void bind_description(py::module_& module) {
  bind_link(module);
  bind_joint(module);
  bind_constraints(module);

  py::class_<Description, Owner> d(module, "Description",
                                   "A robot as it was read: names, frames and numbers.");
  d.def(py::init([](const std::string& name) {
          const auto out = std::make_shared<Description>();
          out->name = name;
          return out;
        }),
        py::arg("name"));
  d.def_property(
      "name", [](const Description& x) { return x.name; },
      [](Description& x, const py::object& name) {
        x.name = taken<std::string>(x.name, "name", name);
      });
  d.def_property(
      "gravity", [](const Description& x) { return triple(x.gravity); },
      [](Description& x, const py::object& g) {
        x.gravity = vec(taken<Triple>(x.name, "gravity", g));
      },
      "[m/s²], world axes.");
  d.def("copy", [](const Description& x) { return std::make_shared<Description>(x); });
  add_list<LinkDescription, &Description::links>(d, "_links", "_link", "_remove_link");
  add_list<JointDescription, &Description::joints>(d, "_joints", "_joint", "_remove_joint");
  add_list<LoopDescription, &Description::loops>(d, "_loops", "_loop", "_remove_loop");
  add_list<CouplingDescription, &Description::couplings>(d, "_couplings", "_coupling",
                                                         "_remove_coupling");
  add_list<LawDescription, &Description::laws>(d, "_laws", "_law", "_remove_law");
  d.def("_add_link", [](const Owner& x, const std::string& name) {
    added(x->links, name, *x);
    return LinkPart{x, name};
  });
  d.def("_add_joint", [](const Owner& x, const std::string& name) {
    added(x->joints, name, *x);
    return JointPart{x, name};
  });
  d.def("_add_loop", [](const Owner& x, const std::string& name) {
    added(x->loops, name, *x);
    return LoopPart{x, name};
  });
  d.def("_add_coupling", [](const Owner& x, const std::string& name) {
    added(x->couplings, name, *x);
    return CouplingPart{x, name};
  });
  d.def("_add_law", [](const Owner& x, const std::string& name) {
    added(x->laws, name, *x);
    return LawPart{x, name};
  });
}

}  // namespace espalier::python
