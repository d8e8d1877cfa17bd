#include "cli/files/controller_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "cli/command.hpp"
#include "cli/files/json_form.hpp"
#include "espalier/simulation/controllers.hpp"
#include "espalier/simulation/simulation.hpp"

namespace espalier::cli {

namespace {

class ControllerReader {
 public:
  ControllerReader(const Model& model, const std::string& file)
      : model_(model), file_(file), form_{file} {}

  std::vector<std::unique_ptr<Controller>> read() {
    const Json document = parse_json(file_, "controller");
    std::vector<std::unique_ptr<Controller>> all;
    if (document.is_object() && document.contains("controllers")) {
      expect_keys(document, "controller file", {"controllers"});
      const Json& list = document["controllers"];
      if (!list.is_array()) form_.refuse("'controllers'", list, "a list of objects");
      for (const Json& item : list) all.push_back(one(item));
    } else {
      all.push_back(one(document));
    }
    return all;
  }

 private:
  void expect_keys(const Json& value, const std::string& who,
                   const std::vector<std::string>& known) const {
    form_.expect_keys(form_.object(value, who), " of " + who, known);
  }

  std::unique_ptr<Controller> one(const Json& value) {
    const Json& type = form_.member(form_.object(value, "controller"), "a controller", "type");
    if (!type.is_string()) form_.refuse("type of a controller", type, "a name");
    const std::string name = type.get<std::string>();
    try {
      if (name == "constant") return constant(value);
      if (name == "pd") return pd(value);
      if (name == "table") return table(value);
    } catch (const UnknownName& error) {
      throw UnknownName(labelled(error));
    } catch (const SizeMismatch& error) {
      throw SizeMismatch(labelled(error));
    } catch (const InvalidModel& error) {
      throw InvalidModel(labelled(error));
    } catch (const Unsupported& error) {
      throw Unsupported(labelled(error));
    }
    throw UnknownName(file_ + ": controller type '" + name + "' is unknown" +
                      suggest(name, {"constant", "pd", "table"}));
  }
  std::string labelled(const Error& error) const {
    const std::string what = error.what();
    return what.starts_with(file_) ? what : file_ + ": " + what;
  }

  std::unique_ptr<Controller> constant(const Json& value) {
    expect_keys(value, "constant", {"type", "tau"});
    std::vector<std::pair<std::string, std::vector<double>>> forces;
    for (const auto& [joint, x] :
         form_.object(form_.member(value, "constant", "tau"), "'tau' of constant").items()) {
      forces.emplace_back(joint, form_.list(x, "force on joint '" + joint + "'"));
    }
    return std::make_unique<ConstantForces>(model_, forces);
  }

  std::unique_ptr<Controller> pd(const Json& value) {
    expect_keys(value, "pd", {"type", "joints"});
    std::vector<std::pair<std::string, PdControl::Gains>> joints;
    for (const auto& [joint, gains] :
         form_.object(form_.member(value, "pd", "joints"), "'joints' of pd").items()) {
      const std::string who = "joint '" + joint + "'";
      expect_keys(gains, who, {"kp", "kd", "target", "target_rate"});
      PdControl::Gains g;
      for (const auto& [key, place] :
           {std::pair{"kp", &g.kp}, std::pair{"kd", &g.kd}, std::pair{"target", &g.target},
            std::pair{"target_rate", &g.target_rate}}) {
        if (gains.contains(key)) *place = form_.number(gains[key], key + (" of " + who));
      }
      joints.emplace_back(joint, g);
    }
    return std::make_unique<PdControl>(model_, joints);
  }

  std::unique_ptr<Controller> table(const Json& value) {
    expect_keys(value, "table", {"type", "file", "time", "tau"});
    if (value.contains("file")) {
      if (value.contains("time") || value.contains("tau")) {
        throw usage_error(file_ + ": table has 'file' and numbers, expected one of them");
      }
      if (!value["file"].is_string()) form_.refuse("'file' of table", value["file"], "a path");
      const std::filesystem::path path(value["file"].get<std::string>());
      return csv(
          (path.is_absolute() ? path : std::filesystem::path(file_).parent_path() / path).string());
    }
    const std::vector<double> times =
        form_.list(form_.member(value, "table", "time"), "'time' of table");
    std::vector<std::string> joints;
    std::vector<std::vector<double>> rows(times.size());
    for (const auto& [joint, x] :
         form_.object(form_.member(value, "table", "tau"), "'tau' of table").items()) {
      const std::vector<double> column = form_.list(x, "forces on joint '" + joint + "'");
      joints.push_back(joint);
      expect_size(file_.c_str(), ("forces on joint '" + joint + "'").c_str(),
                  static_cast<long>(column.size()), static_cast<long>(times.size()));
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i].push_back(column[i]);
    }
    return std::make_unique<ForceTable>(model_, joints, times, rows);
  }

  /// Comma-separated numbers under a header "time,joint,...".
  std::unique_ptr<Controller> csv(const std::string& path) {
    const std::string text = text_of(path, "force table", "a CSV file");
    std::vector<std::string> joints;
    std::vector<double> times;
    std::vector<std::vector<double>> rows;
    int line = 0;
    for (std::size_t start = 0; start < text.size();) {
      const std::size_t end = std::min(text.find('\n', start), text.size());
      const std::vector<std::string> cells = split(text.substr(start, end - start));
      start = end + 1;
      const std::string where = path + ":" + std::to_string(++line);
      if (cells.size() == 1 && cells[0].empty()) continue;
      if (line == 1) {
        if (cells[0] != "time") {
          throw usage_error(where + ": first column is '" + cells[0] + "', expected 'time'");
        }
        joints.assign(cells.begin() + 1, cells.end());
        continue;
      }
      if (cells.size() != joints.size() + 1) {
        throw usage_error(where + ": row has " + std::to_string(cells.size()) +
                          " columns, expected " + std::to_string(joints.size() + 1));
      }
      std::vector<double> row;
      for (const std::string& cell : cells) {
        double x = 0.0;
        const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), x);
        if (error != std::errc() || stop != cell.data() + cell.size() || !std::isfinite(x)) {
          throw usage_error(where + ": cell is '" + cell + "', expected a finite number");
        }
        row.push_back(x);
      }
      times.push_back(row.front());
      rows.emplace_back(row.begin() + 1, row.end());
    }
    return std::make_unique<ForceTable>(model_, joints, times, rows);
  }
  static std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> cells(1);
    for (const char c : line) {
      if (c == ',') {
        cells.emplace_back();
      } else if (c != ' ' && c != '\t' && c != '\r') {
        cells.back() += c;
      }
    }
    return cells;
  }

  const Model& model_;
  std::string file_;
  JsonForm form_;
};

}  // namespace

std::vector<std::unique_ptr<Controller>> read_controllers(const Model& model,
                                                          const std::string& file) {
  return ControllerReader(model, file).read();
}

}  // namespace espalier::cli
