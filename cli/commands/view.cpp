#include <spawn.h>
#include <spdlog/fmt/fmt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "cli/command.hpp"
#include "cli/files/controller_file.hpp"
#include "cli/files/json_form.hpp"
#include "cli/files/state.hpp"
#include "cli/session.hpp"
#include "cli/temporary_folder.hpp"
#include "viewer/server/scene/export.hpp"
#include "viewer/server/server.hpp"

extern char** environ;

namespace espalier::cli {

namespace {

namespace fs = std::filesystem;

/// The page: beside the installed program, else where the build made it.
std::string read_page() {
  std::vector<fs::path> places;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    places.push_back(program.parent_path().parent_path() / ESPALIER_DATADIR /
                     "espalier/viewer.html");
  }
  places.emplace_back(ESPALIER_PAGE_BUILT);
  for (const fs::path& place : places) {
    std::ifstream file(place, std::ios::binary);
    std::ostringstream text;
    if (file && text << file.rdbuf()) return text.str();
  }
  throw Failure(unusable, "MissingPage",
                "view: page is missing, expected it at " + places.back().string() +
                    " (build the target espalier_viewer_page, which needs nodejs and npm)");
}

/// The secret that a file holds; empty if there is no such file.
std::string read_token(const std::string& path) {
  std::ifstream file(path);
  if (!file) return "";
  // A character more than either may have: a device has no end.
  std::string token, rest;
  file >> std::setw(129) >> token;
  const bool hexadecimal = token.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (token.size() < 32 || token.size() > 128 || !hexadecimal || file >> std::setw(1) >> rest) {
    throw usage_error("view: token in '" + path +
                      "' is no secret of this program, expected 32 hexadecimal digits or more "
                      "(remove the file: a new one is made)");
  }
  return token;
}
void write_token(const std::string& path, const std::string& token) {
  write_file(path, "");
  std::error_code error;
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write, error);
  write_file(path, token + "\n");
}

/// Opens the page where a desktop is.
void open_browser(const std::string& url) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return;
  std::string program = "xdg-open", address = url;
  char* arguments[] = {program.data(), address.data(), nullptr};
  pid_t id = 0;
  // A browser that is missing is no error: the address is printed. The child is nobody's concern.
  (void)::posix_spawnp(&id, program.c_str(), nullptr, nullptr, arguments, environ);
}

/// Shows a robot in a browser, in a file or in a picture.
class View final : public Command {
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    app.add_option("--port", port_, "port on 127.0.0.1; 0: any that is free")
        ->check(CLI::Range(0, 65535))
        ->type_name("PORT")
        ->capture_default_str();
    app.add_option(
           "--token-file", token_file_,
           "file with the secret part of the address, created if missing; with --port, open pages "
           "reconnect when the server is restarted")
        ->type_name("FILE");
    app.add_flag("--no-browser", no_browser_, "print the address without opening a browser");
    app.add_option("--state", state_, "initial state, a file as for 'eval'")->type_name("FILE");
    app.add_option("--trajectory", trajectory_, "play a motion written by 'simulate --output'")
        ->type_name("FILE.csv");
    app.add_option("--sweep", sweep_, "move this coordinate through its range, with --html")
        ->type_name("JOINT");
    app.add_option("--compare", compare_,
                   "show another robot beside it, or the same robot run by another algorithm")
        ->type_name("FILE|ALGORITHM");
    app.add_option("--controller", controller_,
                   "controller file for simulations, as for 'simulate'")
        ->type_name("FILE");
    app.add_option("--html", html_,
                   "write a self-contained page that needs no server and no network")
        ->type_name("FILE.html");
    app.add_option("--png", png_, "write a picture, using a headless Chromium")
        ->type_name("FILE.png");
    app.add_option("--size", size_, "size of the picture [pixels]")
        ->type_name("WIDTHxHEIGHT")
        ->capture_default_str();
    app.add_option("--camera", camera_,
                   "viewpoint of the picture: azimuth,elevation,distance [degrees, degrees, "
                   "multiples of the robot's size]")
        ->type_name("A,E,D");
    app.add_option("--mesh-folder", mesh_folders_,
                   "folder with the robot's meshes; may be repeated")
        ->type_name("DIR")
        ->allow_extra_args(false);
    app.footer(R"(
The page draws the shapes of the robot file, or ellipsoids of inertia and bars between joints if it
has none. Sliders move the independent coordinates, the mouse pulls links, and the kernel keeps the
loops closed. The server listens on 127.0.0.1 only, and its address contains a secret; Ctrl-C stops
it. A page written by --html moves through sampled positions, or plays the --trajectory.

Examples: espalier view robots/four_bar_leg.yaml
          espalier view robots/tello.yaml --html tello.html
          espalier view robots/tello.yaml --compare c-aba-reference
          espalier view robots/tello.yaml --png tello.png --camera 40,15,1.6)");
  }

  int run(Session& session) override {
    int width = 0, height = 0;
    char rest = 0;
    if (std::sscanf(size_.c_str(), "%dx%d%c", &width, &height, &rest) != 2 || width < 16 ||
        height < 16 || width > 8192 || height > 8192) {
      throw usage_error("view: --size is '" + size_ + "', expected WIDTHxHEIGHT from 16 to 8192");
    }
    if (!camera_.empty()) {
      double a = 0, e = 0, d = 0;
      if (std::sscanf(camera_.c_str(), "%lf,%lf,%lf%c", &a, &e, &d, &rest) != 3 || !(d > 0.0)) {
        throw usage_error("view: --camera is '" + camera_ +
                          "', expected azimuth,elevation,distance");
      }
      camera_ = fmt::format("{},{},{}", a, e, d);
    }
    expect_together();
    const std::string page = read_page();
    const Host& host = session.host();
    input_files().add(model_.file);
    if (trajectory_) input_files().add(*trajectory_);
    viewer::Stage stage = load(session, model_.file);
    if (state_) stage.start = read_state(stage.model, *state_).inputs.q;
    std::optional<viewer::Trajectory> trajectory;
    if (trajectory_) {
      trajectory = viewer::read_trajectory(
          *stage.model, text_of(*trajectory_, "trajectory", "a CSV of 'espalier simulate'"),
          *trajectory_);
      const std::string doubts = viewer::doubts_of(stage.model, *trajectory);
      if (!doubts.empty()) std::cerr << "espalier: " << doubts << '\n';
      if (!state_) stage.start = trajectory->positions.front();
    }
    if (html_ || png_)
      return write(session, page, stage, trajectory ? &*trajectory : nullptr, width, height);
    if (trajectory) {
      viewer::Mechanism mechanism(host, stage.model);
      stage.scene["motion"] = viewer::motion_of(mechanism, *trajectory);
    }
    std::optional<viewer::Stage> other;
    if (compare_) {
      other.emplace(load_other(session, stage));
      stage.other = &*other;
    }
    return serve(session, page, stage);
  }

  void expect_together() const {
    const auto refuse = [](const char* a, const char* b, const char* why) {
      throw usage_error(std::string("view: ") + a + " is given with " + b +
                        ", expected one of them (" + why + ")");
    };
    if (sweep_ && !html_ && !png_) {
      throw usage_error(
          "view: --sweep is given alone, expected --html or --png with it (a page "
          "that is served has sliders)");
    }
    if (sweep_ && trajectory_) refuse("--sweep", "--trajectory", "a file plays one motion");
    if (compare_ && trajectory_) refuse("--compare", "--trajectory", "a trajectory is one robot's");
    if (compare_ && (html_ || png_)) {
      refuse("--compare", html_ ? "--html" : "--png", "two robots need the server");
    }
  }

  viewer::Stage load(Session& session, const std::string& file) const {
    viewer::Stage stage = reading_model([&] {
      return viewer::Stage(session.host(), file, model_.options, mesh_folders(), model_.reading);
    });
    warn_of(session, stage.description, stage.model->extras().warnings);
    warn_of_meshes(session, stage);
    if (controller_) {
      stage.controllers = [path = *controller_](const Model& model) {
        return read_controllers(model, path);
      };
      (void)stage.controllers(*stage.model);  // what is wrong in it is told now
      stage.names.controller = "file";
      stage.scene["controller"] = "file";
    }
    return stage;
  }

  /// Folders that the user names for meshes, in options and in the variables of ROS and Gazebo.
  std::vector<fs::path> mesh_folders() const {
    std::vector<fs::path> folders(mesh_folders_.begin(), mesh_folders_.end());
    folders.insert(folders.end(), model_.reading.search_paths.begin(),
                   model_.reading.search_paths.end());
    for (const char* variable : {"ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH"}) {
      const char* value = std::getenv(variable);
      std::istringstream names(value != nullptr ? value : "");
      std::error_code ignored;
      for (std::string name; std::getline(names, name, ':');) {
        // The root folder would allow the whole disk.
        const fs::path folder = fs::canonical(name, ignored);
        if (folder.has_relative_path() && fs::is_directory(folder, ignored)) {
          folders.push_back(folder);
        }
      }
    }
    return folders;
  }

  /// Meshes that are not drawn, with the links that have them.
  static void warn_of_meshes(Session& session, const viewer::Stage& stage) {
    for (const LinkDescription& link : stage.description.links) {
      for (const auto* shapes : {&link.visuals, &link.collisions}) {
        for (const ShapeDescription& shape : *shapes) {
          const auto* mesh = std::get_if<Mesh>(&shape.shape);
          const int number = mesh == nullptr ? -1 : stage.meshes.find(mesh->file);
          if (number < 0) continue;
          const std::string& problem = stage.meshes.files()[number].problem;
          if (problem.empty()) continue;
          session.warn({Finding::Severity::warning,
                        "link '" + link.name + "': mesh '" + mesh->file + "': " + problem +
                            " (it is not drawn)",
                        shape.where.text()});
        }
      }
    }
  }

  /// Another robot or, where no file has the name, this robot by another algorithm.
  viewer::Stage load_other(Session& session, const viewer::Stage& first) const {
    std::error_code ignored;
    if (fs::exists(*compare_, ignored)) return load(session, *compare_);
    const viewer::Json& known = first.scene["algorithms"];
    if (std::find(known.begin(), known.end(), viewer::Json(*compare_)) == known.end()) {
      std::string names;
      for (const viewer::Json& n : known)
        names += (names.empty() ? "" : ", ") + n.get<std::string>();
      throw usage_error("view: --compare is '" + *compare_ +
                        "', expected a robot file or an algorithm for its forward dynamics (" +
                        names + ")");
    }
    viewer::Stage other = load(session, model_.file);
    other.start = first.start;
    other.names.simulation.algorithm = *compare_;
    other.scene["algorithm"] = *compare_;
    other.keeps_algorithm = true;
    return other;
  }

  int write(Session& session, const std::string& page, const viewer::Stage& stage,
            const viewer::Trajectory* trajectory, int width, int height) {
    const std::string text =
        viewer::self_contained(page, viewer::exported(stage, trajectory, sweep_.value_or("")));
    Json out{{"model", stage.model->name()}};
    std::string told;
    if (html_) {
      write_file(*html_, text);
      out["html"] = *html_, out["bytes"] = text.size();
      told += fmt::format("{}: {:.2f} MB, opens without a server\n", *html_, text.size() / 1e6);
    }
    if (png_) {
      const TemporaryFolder folder("view");
      const fs::path file = folder.path() / "page.html", profile = folder.path() / "profile";
      write_file(file.string(), text);
      const std::string rendered = (folder.path() / "page.png").string();
      viewer::picture(file.string(), rendered, profile.string(), width, height, camera_);
      write_file(*png_, text_of(rendered, "picture", "one that Chromium drew"));
      out["png"] = *png_;
      told += fmt::format("{}: {} x {} pixels\n", *png_, width, height);
    }
    if (session.json) {
      session.print(out);
    } else {
      session.print(told);
    }
    return ok;
  }

  int serve(Session& session, const std::string& page, const viewer::Stage& stage) {
    viewer::ServerOptions options;
    options.port = static_cast<unsigned short>(port_);
    options.page = page;
    if (token_file_) options.token = read_token(*token_file_);
    viewer::Server server(stage, options);
    if (token_file_ && options.token.empty()) write_token(*token_file_, server.token());
    if (session.json) {
      session.print(Json{{"model", stage.model->name()}, {"url", server.url()}});
    } else {
      session.print(server.url());
    }
    std::cout.flush();
    for (const viewer::Json& problem : stage.scene["problems"]) {
      std::cerr << "espalier: " << problem.get<std::string>() << '\n';
    }
    if (!no_browser_) open_browser(server.url());
    server.run(true);
    return ok;
  }

  ModelArguments model_;
  int port_ = 0;
  bool no_browser_ = false;
  std::optional<std::string> state_, trajectory_, html_, png_, token_file_;
  std::optional<std::string> sweep_, compare_, controller_;
  std::string size_ = "1280x800", camera_;
  std::vector<std::string> mesh_folders_;
};

const Registered<View> registered_view{
    {"view", "show a robot in the browser, move it and run it", 13}};

}  // namespace

}  // namespace espalier::cli
