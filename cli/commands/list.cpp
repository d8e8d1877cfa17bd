#include <spdlog/fmt/fmt.h>
#include <algorithm>

#include "cli/command.hpp"
#include "cli/output/table.hpp"
#include "cli/session.hpp"
#include "espalier/kernel/format.hpp"
#include "espalier/kernel/guard.hpp"
#include "espalier/kernel/model/law.hpp"
#include "espalier/kernel/sub_mechanism.hpp"
#include "espalier/plugins/loader.hpp"

namespace espalier::cli {

namespace {

/// A table and the JSON list of the same.
struct Listing {
  Json items = Json::array();
  Table table;
  std::string notes;  ///< lines below the table

  /// @param header  its columns "source", "scalars" and "plugin" are for wide tables
  explicit Listing(std::vector<std::string> header) : table(std::move(header)) {
    table.wide_only({"source", "scalars", "plugin"});
  }
};

/// What is registered, explained.
class List final : public Command {
  void add_options(CLI::App& app) override {
    std::vector<std::string> words;
    for (const Section& s : sections()) words.push_back(s.name);
    app.add_option("WHAT", what_, "what to list: " + joined(words, ", ") + "; default: all")
        ->check(CLI::IsMember(words).description(""))
        ->type_name("NAME");
    auto* model = app.add_option("--model", model_.file,
                                 "say which algorithms can handle this model, and why the others "
                                 "cannot")
                      ->type_name("FILE");
    add_compile_options(app, model_);
    app.get_option("--root")->needs(model);
    app.get_option("--mimic")->needs(model);
    app.add_option("--problem", problem_, "only algorithms for this problem")->type_name("NAME");
    app.add_flag("--markdown", markdown_, "print Markdown tables");
    app.add_flag("--wide", wide_, "all columns at full width; default: at most 100 characters");
  }

  struct Section {
    std::string name;
    Listing (List::*make)(const Host&) const;
  };
  static const std::vector<Section>& sections() {
    static const std::vector<Section> all{{"joints", &List::joints},
                                          {"loop-joints", &List::loop_joints},
                                          {"sub-mechanisms", &List::sub_mechanisms},
                                          {"laws", &List::laws},
                                          {"formats", &List::formats},
                                          {"algorithms", &List::algorithms},
                                          {"integrators", &List::integrators},
                                          {"qp-solvers", &List::qp_solvers},
                                          {"problems", &List::problems},
                                          {"plugins", &List::plugins}};
    return all;
  }

  int run(Session& session) override {
    const Host& host = session.host();
    if (!problem_.empty()) expect_problem(host.registry(), problem_);
    if (!model_.file.empty()) compiled_ = model_.load(session);
    Json document = Json::object();
    std::string text;
    for (const Section& section : sections()) {
      if (!what_.empty() && section.name != what_) continue;
      Listing listing = (this->*section.make)(host);
      std::string key = section.name;
      std::replace(key.begin(), key.end(), '-', '_');
      if (what_.empty()) {
        text += fmt::format("{}{}{}\n", text.empty() ? "" : "\n", markdown_ ? "## " : "",
                            section.name + (markdown_ ? "\n" : ":"));
      }
      if (listing.items.empty()) {
        text += "none\n";
      } else {
        text +=
            markdown_ ? listing.table.markdown() : listing.table.text(wide_ ? 0 : Table::screen);
        if (!markdown_) text += listing.notes;
      }
      document[key] = std::move(listing.items);
    }
    if (compiled_ != nullptr) document["model"] = compiled_->name();
    if (what_.empty() || what_ == "plugins") {
      document["search_path"] = Loader::search_path(session.plugin_folders);
    }
    if (session.json) {
      session.print(document);
    } else {
      session.print(text);
    }
    return ok;
  }

  /// What every entry says of itself.
  static Json about(const Entry& e) {
    return {{"name", e.about.name},
            {"summary", e.about.summary},
            {"source", e.about.source},
            {"cost", e.about.cost},
            {"plugin", e.origin}};
  }
  /// The name of a plugin's file: paths are for --json.
  static std::string file_of(const std::string& origin) {
    return origin.substr(origin.find_last_of('/') + 1);
  }

  Listing joints(const Host& host) const {
    Listing out({"joint", "positions", "rates", "parameters", "summary", "source", "plugin"});
    for (const Entry* e : host.registry().entries(Kind::joint)) {
      const auto views = e->joint->parameter_names();
      const std::vector<std::string> parameters(views.begin(), views.end());
      Json item = about(*e);
      item["nq"] = e->joint->nq();
      item["nv"] = e->joint->nv();
      item["parameters"] = parameters;
      out.items.push_back(std::move(item));
      out.table.row({e->about.name, std::to_string(e->joint->nq()), std::to_string(e->joint->nv()),
                     joined(parameters), e->about.summary, e->about.source, file_of(e->origin)});
    }
    return out;
  }

  static std::vector<std::string> strings(const std::vector<std::string_view>& views) {
    return {views.begin(), views.end()};
  }
  /// Neighbours of one prefix in one word: "rotor_xyz, rotor_rpy" become "rotor_xyz|rpy".
  static std::string grouped(const std::vector<std::string>& names) {
    const auto prefix = [](const std::string& name) { return name.substr(0, name.rfind('_') + 1); };
    std::vector<std::string> groups;
    std::string last;
    for (const std::string& name : names) {
      if (!last.empty() && prefix(name) == last) {
        groups.back() += "|" + name.substr(last.size());
      } else {
        groups.push_back(name);
        last = prefix(name);
      }
    }
    return joined(groups);
  }

  /// What can close loops besides the joints.
  Listing loop_joints(const Host& host) const {
    Listing out({"loop joint", "parameters", "summary", "source", "plugin"});
    for (const Entry* e : host.registry().entries(Kind::loop_joint)) {
      const auto parameters = strings(e->loop_joint->parameter_names());
      Json item = about(*e);
      item["parameters"] = parameters;
      out.items.push_back(std::move(item));
      out.table.row({e->about.name, joined(parameters), e->about.summary, e->about.source,
                     file_of(e->origin)});
    }
    return out;
  }

  Listing sub_mechanisms(const Host& host) const {
    Listing out(
        {"sub-mechanism", "inputs", "outputs", "parameters", "summary", "source", "plugin"});
    for (const Entry* e : host.registry().entries(Kind::sub_mechanism)) {
      const SubMechanism& m = *e->sub_mechanism;
      const auto parameters = strings(m.parameter_names());
      const auto inputs = strings(m.inputs()), outputs = strings(m.outputs());
      Json item = about(*e);
      item["parameters"] = parameters;
      item["inputs"] = inputs;
      item["outputs"] = outputs;
      item["sample"] = sample_of(m);
      out.items.push_back(std::move(item));
      out.table.row({e->about.name, joined(inputs), joined(outputs), grouped(parameters),
                     e->about.summary, e->about.source, file_of(e->origin)});
    }
    return out;
  }

  /// A working instance, as a file would give it.
  template <class Type>
  static Json sample_of(const Type& type) {
    Json sample = Json::object();
    const Parameters values_of = detail::guarded([] { return std::string("list"); }, "a sample()",
                                                 [&] { return type.sample(); });
    for (const auto& [name, values] : values_of) {
      sample[name] = values.size() == 1 ? Json(values.front()) : Json(values);
    }
    return sample;
  }

  Listing laws(const Host& host) const {
    Listing out({"law", "positions", "equations", "form", "closed form", "parameters", "summary",
                 "source", "plugin"});
    for (const Entry* e : host.registry().entries(Kind::law)) {
      const auto parameters = strings(e->law->parameter_names());
      Json item = about(*e);
      item["parameters"] = parameters;
      item["positions"] = e->law->positions();
      item["sample"] = sample_of(*e->law);
      std::string equations = "?", form = "?", branches = "?";
      try {  // an instance knows the rest
        PartSpec spec;
        spec.what = "law", spec.name = e->about.name, spec.parameters = e->law->sample();
        const auto law = e->law->make(spec);
        item["equations"] = law->equations();
        item["explicit"] = law->is_explicit();
        item["branches"] = law->branches();
        equations = std::to_string(law->equations());
        form = law->is_explicit() ? "gamma" : "phi";
        branches = law->branches() == 0   ? "no"
                   : law->branches() == 1 ? "yes"
                                          : std::to_string(law->branches()) + " branches";
      } catch (...) {  // its sample does not work: said by the question marks
      }
      out.items.push_back(std::move(item));
      out.table.row({e->about.name, std::to_string(e->law->positions()), equations, form, branches,
                     grouped(parameters), e->about.summary, e->about.source, file_of(e->origin)});
    }
    return out;
  }

  Listing formats(const Host& host) const {
    Listing out({"format", "endings", "summary", "source", "plugin"});
    for (const Entry* e : host.registry().entries(Kind::format)) {
      Json item = about(*e);
      item["extensions"] = e->format->extensions();
      out.items.push_back(std::move(item));
      out.table.row({e->about.name, joined(e->format->extensions()), e->about.summary,
                     e->about.source, file_of(e->origin)});
    }
    return out;
  }

  Listing integrators(const Host& host) const {
    Listing out({"integrator", "cost", "options", "summary", "source", "plugin"});
    for (const Entry* e : host.registry().entries(Kind::integrator)) {
      const std::vector<std::string> options(e->options.begin(), e->options.end());
      Json item = about(*e);
      item["options"] = options;
      out.items.push_back(std::move(item));
      out.table.row({e->about.name, e->about.cost, joined(options), e->about.summary,
                     e->about.source, file_of(e->origin)});
    }
    return out;
  }

  Listing qp_solvers(const Host& host) const {
    Listing out({"QP solver", "cost", "summary", "source", "plugin"});
    for (const Entry* e : host.registry().entries(Kind::qp_solver)) {
      out.items.push_back(about(*e));
      out.table.row(
          {e->about.name, e->about.cost, e->about.summary, e->about.source, file_of(e->origin)});
    }
    return out;
  }

  static std::vector<std::string> abilities_of(const Capabilities& c) {
    std::vector<std::string> abilities{c.exact ? "exact" : "approximate"};
    if (c.couplings) abilities.push_back("couplings");
    if (c.loops) abilities.push_back("loops");
    if (c.several_supports) abilities.push_back("several supports");
    if (c.joint_supplied_dynamics) abilities.push_back("joint-supplied dynamics");
    if (!c.weightless_tree) abilities.push_back("no weightless tree");
    return abilities;
  }

  static Json algorithm_item(const Entry& e, const std::vector<std::string>& scalars) {
    const Capabilities& c = e.capabilities;
    Json item = about(e);
    item["problem"] = e.problem;
    item["capabilities"] = {{"couplings", c.couplings},
                            {"loops", c.loops},
                            {"several_supports", c.several_supports},
                            {"joint_supplied_dynamics", c.joint_supplied_dynamics},
                            {"weightless_tree", c.weightless_tree},
                            {"exact", c.exact}};
    item["scalars"] = scalars;
    return item;
  }

  Listing algorithms(const Host& host) const {
    std::vector<std::string> header{"algorithm", "problem", "cost",  "can",
                                    "scalars",   "summary", "source"};
    // In docs/algorithms.md, the file of a plugin says nothing that the problem does not say.
    if (!markdown_) header.push_back("plugin");
    if (compiled_ != nullptr) header.push_back("on " + compiled_->name());
    Listing out(std::move(header));
    // Beside the verdict on a model, what is general is for wide tables.
    std::vector<std::string> hidden{"cost", "scalars", "source", "plugin"};
    if (compiled_ != nullptr) hidden.insert(hidden.end(), {"can", "summary"});
    out.table.wide_only(hidden).give_way({"can"});
    std::vector<std::string> obstacles;
    for (const Entry* e : host.registry().algorithms(problem_)) {
      std::vector<std::string> scalars;
      for (int k = 0; k < scalar_count; ++k) {
        if (e->algorithm[k]) scalars.emplace_back(scalar_names[k]);
      }
      Json item = algorithm_item(*e, scalars);
      std::vector<std::string> cells{
          e->about.name,   e->problem,       e->about.cost,  joined(abilities_of(e->capabilities)),
          joined(scalars), e->about.summary, e->about.source};
      if (!markdown_) cells.push_back(file_of(e->origin));
      if (compiled_ != nullptr) {
        const Verdict verdict = host.registry().can(*e, *compiled_);
        item["can"] = verdict.ok;
        item["obstacle"] = verdict.obstacle;
        item["alternatives"] = verdict.alternatives;
        cells.push_back(verdict.ok ? "can" : obstacle_cell(verdict.obstacle, obstacles));
      }
      out.items.push_back(std::move(item));
      out.table.row(std::move(cells));
    }
    for (std::size_t k = 0; k < obstacles.size(); ++k) {
      out.notes += k == 0 ? "\n" : "";
      for (const std::string& line :
           broken(fmt::format("[{}] {}", k + 1, obstacles[k]), Table::screen)) {
        out.notes += line + "\n";
      }
    }
    return out;
  }

  /// What stands in the way: whole in wide and Markdown tables, else the number of a note below,
  /// since many algorithms meet one obstacle.
  std::string obstacle_cell(const std::string& obstacle,
                            std::vector<std::string>& obstacles) const {
    if (wide_ || markdown_) return obstacle;
    const auto known = std::find(obstacles.begin(), obstacles.end(), obstacle);
    const std::size_t number = known - obstacles.begin() + 1;
    if (known == obstacles.end()) obstacles.push_back(obstacle);
    return fmt::format("cannot [{}]", number);
  }

  Listing problems(const Host& host) const {
    Listing out({"problem", "algorithms"});
    for (const std::string& problem : host.registry().problems()) {
      std::vector<std::string> names;
      for (const Entry* e : host.registry().algorithms(problem)) names.push_back(e->about.name);
      out.items.push_back({{"name", problem}, {"algorithms", names}});
      out.table.row({problem, joined(names)});
    }
    return out;
  }

  Listing plugins(const Host& host) const {
    Listing out({"plugin", "version", "instruction set", "file", "path"});
    out.table.wide_only({"path"});
    std::vector<std::string> folders;
    for (const LoadedPlugin& p : host.loader().loaded()) {
      out.items.push_back({{"name", p.name},
                           {"version", p.version},
                           {"instruction_set", p.instruction_set},
                           {"file", p.file}});
      out.table.row({p.name, p.version, p.instruction_set, file_of(p.file), p.file});
      const std::string folder = p.file.substr(0, p.file.find_last_of('/') + 1);
      if (std::find(folders.begin(), folders.end(), folder) == folders.end()) {
        folders.push_back(folder);
      }
    }
    if (!wide_) out.notes = fmt::format("\nin {}\n", fmt::join(folders, "\n   "));
    return out;
  }

  std::string what_, problem_;
  ModelArguments model_;
  ModelPtr compiled_;
  bool markdown_ = false, wide_ = false;
};

const Registered<List> registered_list{
    {"list", "list algorithms, joint types, sub-mechanisms, file formats and more", 25}};

}  // namespace

}  // namespace espalier::cli
