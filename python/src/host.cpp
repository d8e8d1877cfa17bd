#include <pybind11/stl.h>
#include <algorithm>

#include "espalier/kernel/format.hpp"
#include "espalier/plugins/loader.hpp"
#include "robot.hpp"

namespace espalier::python {

namespace {

CompileOptions compile_options(const std::optional<std::string>& root, const std::string& mimic,
                               const std::string& rotors) {
  const auto choose = [](const char* what, const std::string& word, const char* first,
                         const char* second) {
    if (word == first) return true;
    if (word == second) return false;
    throw UnknownName(std::string("compile: ") + what + " is '" + word + "'" +
                      suggest(word, {first, second}));
  };
  using Options = CompileOptions;
  Options options;
  if (root) {
    options.root =
        choose("root", *root, "fixed", "floating") ? Options::Root::fixed : Options::Root::floating;
  }
  options.mimic = choose("mimic", mimic, "honour", "ignore") ? Options::MimicRule::honour
                                                             : Options::MimicRule::ignore;
  options.rotors =
      choose("rotors", rotors, "fold", "keep") ? Options::Rotors::fold : Options::Rotors::keep;
  return options;
}

Robot compile(const std::shared_ptr<Host>& host, const std::shared_ptr<Description>& description,
              const std::optional<std::string>& root, const std::string& mimic,
              const std::string& rotors) {
  // A copy: what Python edits later does not change what the robot was compiled from.
  Robot robot{host, nullptr, std::make_shared<const Description>(*description),
              compile_options(root, mimic, rotors)};
  WithoutGil released;
  robot.model = host->compile(*robot.description, robot.options);
  return robot;
}

/// What the command line warns of: what of the file is left out, and what is doubtful in it.
std::vector<std::string> warnings_of(const Robot& robot) {
  std::vector<std::string> out;
  const std::vector<Finding>& findings = robot.model->extras().warnings;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const Finding& f = findings[i];
    if (f.severity == Finding::Severity::error) continue;
    if (i >= robot.description->findings.size() && !f.negotiable) continue;
    const bool told = f.where.empty() || f.text.find(f.where) != std::string::npos;
    out.push_back((told ? "" : f.where + ": ") + f.text);
  }
  return out;
}

Kind kind_of(const std::string& name) {
  std::vector<std::string> known;
  for (int k = 0; k <= static_cast<int>(Kind::pack_code); ++k) {
    known.emplace_back(to_string(static_cast<Kind>(k)));
    if (known.back() == name) return static_cast<Kind>(k);
  }
  throw UnknownName("registry: kind is '" + name + "'" + suggest(name, known));
}

/// What `espalier list` says of an entry, as a dict.
py::dict about(const Host& host, const Entry& e, const Robot* robot) {
  py::dict out;
  out["name"] = e.about.name;
  out["kind"] = std::string(to_string(e.kind));
  out["summary"] = e.about.summary;
  out["source"] = e.about.source;
  out["cost"] = e.about.cost;
  out["origin"] = e.origin;
  if (e.kind != Kind::algorithm) return out;
  out["problem"] = e.problem;
  out["exact"] = e.capabilities.exact;
  py::list scalars;
  for (int k = 0; k < scalar_count; ++k) {
    if (e.algorithm[k]) scalars.append(std::string(scalar_names[k]));
  }
  out["scalars"] = scalars;
  if (robot != nullptr) {
    const Verdict verdict = host.registry().can(e, *robot->model);
    out["can"] = verdict.ok;
    out["exact"] = verdict.exact;
    out["obstacle"] = verdict.obstacle;
  }
  return out;
}

using HostClass = py::class_<Host, std::shared_ptr<Host>>;

void bind_registry(HostClass& host) {
  host.def(py::init([](const std::vector<std::string>& folders, bool search) {
             Host::Options options;
             options.plugin_folders = folders;
             options.search = search;
             return std::make_shared<Host>(options);
           }),
           py::arg("plugin_folders") = std::vector<std::string>{}, py::arg("search") = true)
      .def(
          "load_plugin", [](Host& host, const std::string& file) { host.loader().load(file); },
          py::arg("file"), "Loads one plugin library (.so).")
      .def("plugins",
           [](const Host& host) {
             py::list out;
             for (const LoadedPlugin& p : host.loader().loaded()) {
               py::dict item;
               item["name"] = p.name;
               item["version"] = p.version;
               item["file"] = p.file;
               item["instruction_set"] = p.instruction_set;
               out.append(item);
             }
             return out;
           })
      .def("problems", [](const Host& host) { return host.registry().problems(); })
      .def(
          "algorithms",
          [](const Host& host, const std::string& problem, const Robot* robot) {
            const std::vector<std::string> known = host.registry().problems();
            if (!problem.empty() && std::find(known.begin(), known.end(), problem) == known.end()) {
              throw UnknownName("algorithms: problem is '" + problem + "'" +
                                suggest(problem, known));
            }
            py::list out;
            for (const Entry* e : host.registry().algorithms(problem)) {
              out.append(about(host, *e, robot));
            }
            return out;
          },
          py::arg("problem") = "", py::arg("robot") = static_cast<const Robot*>(nullptr))
      .def(
          "entries",
          [](const Host& host, const std::string& kind) {
            py::list out;
            for (const Entry* e : host.registry().entries(kind_of(kind))) {
              out.append(about(host, *e, nullptr));
            }
            return out;
          },
          py::arg("kind"));
}

void bind_files(HostClass& host) {
  host.def(
          "read",
          [](const Host& host, const std::string& path) {
            WithoutGil released;
            auto found = std::make_shared<Description>(host.read(path));
            keep_places(*found);
            return found;
          },
          py::arg("path"))
      .def(
          "read_text",
          [](const Host& host, const std::string& text, const std::string& origin) {
            WithoutGil released;
            auto found = std::make_shared<Description>(
                host.registry().format_for(origin).read(text, origin, host.registry()));
            keep_places(*found);
            return found;
          },
          py::arg("text"), py::arg("origin"),
          "Reads a robot from text in the format of origin's ending.")
      .def(
          "write_text",
          [](const Host& host, const Description& description, const std::string& path) {
            return host.registry().format_for(path).write(description);
          },
          py::arg("description"), py::arg("path"),
          "The robot as text in the format of the path's ending.")
      .def(
          "losses",
          [](const Host& host, const Description& description, const std::string& path) {
            return host.registry().format_for(path).losses(description);
          },
          py::arg("description"), py::arg("path"),
          "What the format of the path's ending does not keep of a robot, a sentence each.")
      .def("compile", &compile, py::arg("description"), py::arg("root") = py::none(),
           py::arg("mimic") = "honour", py::arg("rotors") = "fold")
      .def(
          "warnings", [](const Host&, const Robot& robot) { return warnings_of(robot); },
          py::arg("robot"))
      .def(
          "diagnose",
          [](const Host& host, const Description& description,
             const std::optional<std::string>& root, const std::string& mimic) {
            py::list out;
            for (const Finding& f :
                 diagnose(description, host.registry(), compile_options(root, mimic, "fold"))) {
              out.append(py::make_tuple(
                  f.severity == Finding::Severity::error ? "error" : "warning", f.text, f.where));
            }
            return out;
          },
          py::arg("description"), py::arg("root") = py::none(), py::arg("mimic") = "honour",
          "What the model doctor finds: (severity, text, where).");
}

}  // namespace

void bind_host(py::module_& module) {
  py::class_<Robot>(module, "Robot");  // its members are those of bind_model()
  HostClass host(module, "Host",
                 "A registry with its plugins, and the way from a file to a robot.");
  bind_registry(host);
  bind_files(host);
}

}  // namespace espalier::python
