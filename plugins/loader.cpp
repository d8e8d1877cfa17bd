#include "espalier/plugins/loader.hpp"

#include <cxxabi.h>
#include <sys/stat.h>
#include <xmmintrin.h>
#include <algorithm>
#include <boost/core/demangle.hpp>
#include <boost/dll/runtime_symbol_info.hpp>
#include <boost/dll/shared_library.hpp>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <typeinfo>
#include <utility>

#include "espalier/plugins/instruction_set.hpp"
#include "espalier/plugins/library_file.hpp"
#include "espalier/plugins/log.hpp"
#include "espalier/plugins/plugin.hpp"
#include "espalier/plugins/plugin_header.hpp"
#include "espalier/plugins/plugin_index.hpp"

namespace espalier {

namespace {

namespace fs = std::filesystem;
using detail::InstructionSet;

/// Keeps a library in memory until the process ends: algorithms, exceptions and static objects of
/// plugins may outlive every Loader. The list is reached from a static pointer, so that leak
/// checkers know it.
void keep_forever(const boost::dll::shared_library& library) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<boost::dll::shared_library>;
  const std::lock_guard lock(mutex);
  kept->push_back(library);
}

/// Runs code of a plugin; whatever it throws becomes a PluginError that names the file.
template <class F>
auto guarded(const std::string& file, const std::string& doing, F&& f) {
  std::string thrown;
  try {
    return f();
  } catch (const std::exception& error) {
    thrown = "'" + std::string(error.what()) + "'";
  } catch (...) {
    thrown = boost::core::demangle(abi::__cxa_current_exception_type()->name());
  }
  throw PluginError(file + ": " + doing + " threw " + thrown + ", expected no exception");
}

/// What Boost.DLL reports of dlopen, without what it says of itself.
std::string linker_message(const std::exception& error) {
  std::string text = error.what();
  constexpr std::string_view begin = "(dlerror system message: ";
  const std::size_t start = text.find(begin);
  if (start == std::string::npos) return text;
  text = text.substr(start + begin.size());
  return text.substr(0, text.rfind(')'));
}

/// Keeps what an algorithm's arithmetic rests on: constructors of a library that was linked with
/// -ffast-math make the processor round numbers below 2e-308 to zero, in the host and in all other
/// plugins.
class KeptArithmetic {
 public:
  explicit KeptArithmetic(const std::string& file) : file_(file) {}
  ~KeptArithmetic() {
    const unsigned now = _mm_getcsr();
    if (((now ^ before_) & control) == 0) return;
    _mm_setcsr((now & ~control) | (before_ & control));
    detail::logger()->warn(
        "{}: control word of floating-point arithmetic is {:#06x} after loading, expected {:#06x} "
        "(it is set back; link the plugin without -ffast-math)",
        file_, now & control, before_ & control);
  }
  KeptArithmetic(const KeptArithmetic&) = delete;
  KeptArithmetic& operator=(const KeptArithmetic&) = delete;

 private:
  static constexpr unsigned control = ~0x3fu & 0xffffu;  // the rest are flags of what happened
  const std::string& file_;
  unsigned before_ = _mm_getcsr();
};

boost::dll::shared_library open(const std::string& file) {
  try {
    // All symbols now: a missing one is an error here, not a crash when it is called.
    // Local: plugins do not see each other's symbols.
    boost::dll::shared_library library(
        file, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
    keep_forever(library);
    return library;
  } catch (const std::system_error& error) {
    throw PluginError(file + ": plugin file is refused by the dynamic linker with '" +
                      linker_message(error) +
                      "', expected a library whose symbols and shared libraries are all found");
  }
}

/// Two paths lead to one file if they have one of these.
struct FileIdentity {
  std::string path;  ///< canonical
  dev_t device = 0;
  ino_t inode = 0;

  explicit FileIdentity(const fs::path& canonical) : path(canonical.string()) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) device = status.st_dev, inode = status.st_ino;
  }
  bool same_file(const FileIdentity& other) const {
    return path == other.path || (inode != 0 && inode == other.inode && device == other.device);
  }
};

/// The library to load in place of `file`: its widest sibling that can run here.
fs::path widest_sibling(const fs::path& file) {
  const InstructionSet asked = detail::instruction_set_of(file.filename().string());
  if (asked != InstructionSet::baseline) {
    if (asked > detail::processor_instruction_set()) {
      throw PluginError(file.string() + ": instruction set is " + std::string(to_string(asked)) +
                        ", expected at most " +
                        std::string(to_string(detail::processor_instruction_set())) +
                        " (this processor has no more)");
    }
    return file;
  }
  if (file.extension() != ".so") return file;
  const InstructionSet usable = detail::usable_instruction_set();
  for (const InstructionSet set : {InstructionSet::v4, InstructionSet::v3}) {
    if (set > usable) continue;
    fs::path sibling = file;
    sibling.replace_extension(std::string(detail::file_suffix(set)) + ".so");
    std::error_code error;
    if (fs::is_regular_file(sibling, error)) return sibling;
  }
  return file;
}

/// The libraries that are one plugin: a file and its siblings for other instruction sets.
std::vector<FileIdentity> variants_of(const fs::path& file) {
  std::vector<FileIdentity> all{FileIdentity(file)};
  if (file.extension() != ".so") return all;
  const bool wide =
      detail::instruction_set_of(file.filename().string()) != InstructionSet::baseline;
  const fs::path whole = file.parent_path() / file.stem();
  const std::string plain = (wide ? file.parent_path() / whole.stem() : whole).string();
  for (const InstructionSet set :
       {InstructionSet::baseline, InstructionSet::v3, InstructionSet::v4}) {
    const fs::path sibling = plain + std::string(detail::file_suffix(set)) + ".so";
    std::error_code error;
    if (fs::is_regular_file(sibling, error)) all.emplace_back(sibling);
  }
  return all;
}

/// Says where others than the owner may put code that will run here.
void warn_of_writers(const std::string& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0 || (status.st_mode & S_IWOTH) == 0) return;
  detail::logger()->warn(
      "{}: plugin folder is writable by everybody, expected one that its owner alone may write "
      "(whoever puts a library there runs code in this program: chmod o-w '{}')",
      folder, folder);
}

/// Whether a folder's file stands for its plugin: a plain one does, and one for an instruction set
/// does if there is neither a plain sibling nor a wider one that can run here.
/// @throws PluginError if the plugin is there for wider instruction sets only
bool stands_for_plugin(const fs::path& file) {
  const InstructionSet set = detail::instruction_set_of(file.filename().string());
  if (file.extension() != ".so" || set == InstructionSet::baseline)
    return file.extension() == ".so";
  const std::string plain = (file.parent_path() / file.stem().stem()).string();
  std::error_code error;
  if (fs::exists(plain + ".so", error)) return false;
  const InstructionSet usable = detail::usable_instruction_set();
  InstructionSet widest = InstructionSet::baseline, narrowest = set;
  for (const InstructionSet other : {InstructionSet::v3, InstructionSet::v4}) {
    if (!fs::exists(plain + std::string(detail::file_suffix(other)) + ".so", error)) continue;
    narrowest = std::min(narrowest, other);
    if (other <= usable) widest = other;
  }
  if (widest == InstructionSet::baseline && narrowest == set) {
    throw PluginError(file.string() + ": instruction set is " + std::string(to_string(set)) +
                      ", expected one for " + std::string(to_string(usable)) +
                      " (build with ESPALIER_ONE_VARIANT=OFF, or raise ESPALIER_INSTRUCTION_SET)");
  }
  return set == widest;
}

/// The name of a plugin's plain file, which all its variants share.
std::string plain_name(const std::string& file) {
  const fs::path name = fs::path(file).filename();
  return detail::instruction_set_of(name.string()) == InstructionSet::baseline
             ? name.string()
             : name.stem().stem().string() + ".so";
}

fs::path resolve(const std::string& file) {
  std::error_code error;
  fs::path path = fs::canonical(file, error);
  if (!error) return path;
  throw PluginError(file + ": plugin file is " +
                    (error == std::errc::no_such_file_or_directory
                         ? "missing"
                         : "unreadable (" + error.message() + ")") +
                    ", expected a shared library");
}

}  // namespace

struct Loader::State : std::enable_shared_from_this<State> {
  explicit State(Registry& r) : registry(r) {}

  bool knows(const FileIdentity& file) const {
    return std::any_of(files.begin(), files.end(),
                       [&](const FileIdentity& known) { return known.same_file(file); });
  }
  /// Loads a library; one from a folder is passed over if its file name is taken.
  void load(const std::string& file, bool from_folder);
  /// Opens a library and takes what it registers.
  LoadedPlugin open_now(const std::string& name);
  /// Takes a library by its index; false if it has to be opened now.
  bool take_promise(const std::string& name);
  /// Opens a library that was taken by its index, if that was not done yet.
  /// @throws as load(), after which it is not known any more
  void keep_promise(const std::string& name);

  Registry& registry;
  mutable std::mutex mutex;  ///< held while a plugin is loaded: one at a time
  std::vector<LoadedPlugin> plugins;
  std::vector<FileIdentity> files;   ///< of the libraries that run and of their siblings
  std::set<std::string> file_names;  ///< of what was asked for: they shadow later folders
  std::set<std::string> pending;     ///< libraries that were taken by their index and are not open
};

Loader::Loader(Registry& registry) : state_(std::make_shared<State>(registry)) {}
Loader::~Loader() = default;

void Loader::State::load(const std::string& file, bool from_folder) {
  const fs::path asked = resolve(file);
  const fs::path chosen = widest_sibling(asked);
  const std::string name = chosen.string();

  const std::lock_guard lock(mutex);
  const std::vector<FileIdentity> variants = variants_of(asked);
  if (std::any_of(variants.begin(), variants.end(),
                  [&](const FileIdentity& variant) { return knows(variant); })) {
    if (!from_folder) keep_promise(name);
    return;
  }

  const std::string file_name = plain_name(file);
  if (from_folder && file_names.contains(file_name)) {
    detail::logger()->debug("{}: passed over, a plugin file of this name is loaded already", file);
    return;
  }

  if (!from_folder || !take_promise(name)) plugins.push_back(open_now(name));
  files.insert(files.end(), variants.begin(), variants.end());
  file_names.insert(file_name);
}

LoadedPlugin Loader::State::open_now(const std::string& name) {
  detail::check_library_file(name);
  const KeptArithmetic kept(name);
  const boost::dll::shared_library library = open(name);
  if (!library.has(plugin_entry_point)) {
    throw PluginError(name + ": entry point is missing, expected the symbol '" +
                      plugin_entry_point + "' (define it with ESPALIER_PLUGIN)");
  }
  const auto& entry_point = library.get<const PluginHeader*()>(plugin_entry_point);
  const PluginHeader* header = guarded(name, "entry point", [&] { return entry_point(); });
  detail::check_plugin_header(name, header);

  Registrar registrar(name);
  guarded(name, "registering plugin '" + std::string(header->name) + "'",
          [&] { header->register_entries(registrar); });
  LoadedPlugin plugin{header->name, header->version, name,
                      std::string(to_string(detail::instruction_set_of(name)))};
  registry.commit(std::move(registrar));

  detail::logger()->debug("{}: loaded plugin '{}' {}", name, plugin.name, plugin.version);
  return plugin;
}

bool Loader::State::take_promise(const std::string& name) {
  std::optional<detail::PluginIndex> index = detail::read_plugin_index(name);
  if (!index) return false;
  const auto open = [self = shared_from_this(), name] {
    const std::lock_guard lock(self->mutex);
    try {
      self->keep_promise(name);
    } catch (const Error& error) {
      detail::logger()->warn("plugin refused: {}", error.what());
    }
  };
  if (!registry.promise({name, std::move(index->names), open})) return false;
  pending.insert(name);
  plugins.push_back({index->name, index->version, name,
                     std::string(to_string(detail::instruction_set_of(name)))});
  return true;
}

void Loader::State::keep_promise(const std::string& name) {
  if (pending.erase(name) == 0) return;
  try {
    open_now(name);
  } catch (const Error&) {
    const std::vector<FileIdentity> variants = variants_of(name);
    std::erase_if(plugins, [&](const LoadedPlugin& plugin) { return plugin.file == name; });
    std::erase_if(files, [&](const FileIdentity& file) {
      return std::any_of(variants.begin(), variants.end(),
                         [&](const FileIdentity& v) { return v.same_file(file); });
    });
    file_names.erase(plain_name(name));
    registry.forget(name);
    throw;
  }
}

void Loader::load(const std::string& file) { state_->load(file, false); }

std::vector<std::string> Loader::load_folder(const std::string& folder, bool keep_going) {
  std::vector<std::string> refused;
  const auto attempt = [&](const auto& action) {
    try {
      action();
    } catch (const Error& error) {
      if (!keep_going) throw;
      refused.emplace_back(error.what());
    }
  };

  std::vector<fs::path> candidates;
  attempt([&] {
    std::error_code error;
    if (!fs::exists(folder, error) && !error) return;
    warn_of_writers(folder);
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      candidates.push_back(it->path());
    }
    if (error) {
      throw PluginError(folder + ": plugin folder is unreadable (" + error.message() +
                        "), expected a folder of shared libraries");
    }
  });
  std::sort(candidates.begin(), candidates.end());
  for (const fs::path& file : candidates) {
    attempt([&] {
      if (stands_for_plugin(file)) state_->load(file.string(), true);
    });
  }
  return refused;
}

std::vector<std::string> Loader::search_path(const std::vector<std::string>& first) {
  std::vector<std::string> result;
  const auto append = [&](const fs::path& folder) {
    if (folder.empty()) return;
    std::error_code error;
    fs::path path = fs::weakly_canonical(fs::absolute(folder, error), error);
    if (error) path = folder;
    if (!path.has_filename()) path = path.parent_path();  // "plugins/" is "plugins"
    if (std::find(result.begin(), result.end(), path.string()) == result.end()) {
      result.push_back(path.string());
    }
  };
  for (const std::string& folder : first) append(folder);

  // A program that runs with another user's rights takes no code from this user's environment.
  if (const char* variable = ::secure_getenv("ESPALIER_PLUGIN_PATH")) {
    std::string_view rest = variable;
    while (!rest.empty()) {
      const std::string_view folder = rest.substr(0, rest.find(':'));
      rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
      append(folder);
    }
  }

  std::error_code error;
  const fs::path here = fs::weakly_canonical(boost::dll::this_line_location(), error).parent_path();
  append(here / "espalier" / "plugins");
#ifdef ESPALIER_BUILD_PLUGIN_DIR
  // An installed library was once linked in a build tree too, but does not lie in it.
  const fs::path build = fs::weakly_canonical(ESPALIER_BUILD_PLUGIN_DIR, error);
  if (here.parent_path() == build.parent_path() && fs::is_directory(build, error)) append(build);
#endif
  return result;
}

std::vector<LoadedPlugin> Loader::loaded() const {
  const std::lock_guard lock(state_->mutex);
  return state_->plugins;
}

}  // namespace espalier
