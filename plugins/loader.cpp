#include "espalier/plugins/loader.hpp"

#include <cxxabi.h>
#include <sys/stat.h>
#include <xmmintrin.h>
#include <algorithm>
#include <boost/core/demangle.hpp>
#include <boost/dll/runtime_symbol_info.hpp>
#include <boost/dll/shared_library.hpp>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <typeinfo>
#include <utility>

#include "espalier/plugins/library_file.hpp"
#include "espalier/plugins/log.hpp"
#include "espalier/plugins/plugin.hpp"
#include "espalier/plugins/plugin_files.hpp"
#include "espalier/plugins/plugin_header.hpp"
#include "espalier/plugins/plugin_index.hpp"
#include "espalier/plugins/processor/instruction_set.hpp"

namespace espalier {

namespace {

namespace fs = std::filesystem;
using detail::FileIdentity;
using detail::Files;
using detail::FolderIndex;

/// Keeps a library in memory until the process ends: algorithms, exceptions and static objects of
/// plugins may outlive every Loader. The list is reached from a static pointer, so that leak
/// checkers know it.
const boost::dll::shared_library& kept_forever(boost::dll::shared_library&& library) {
  static std::mutex mutex;
  static auto* const kept = new std::deque<boost::dll::shared_library>;
  const std::lock_guard lock(mutex);
  return kept->emplace_back(std::move(library));
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
    detail::log_warning(file_ + ": control word of floating-point arithmetic is " +
                        hexadecimal(now & control) + " after loading, expected " +
                        hexadecimal(before_ & control) +
                        " (it is set back; link the plugin without -ffast-math)");
  }
  KeptArithmetic(const KeptArithmetic&) = delete;
  KeptArithmetic& operator=(const KeptArithmetic&) = delete;

 private:
  static std::string hexadecimal(unsigned number) {
    char text[16];
    std::snprintf(text, sizeof text, "%#06x", number);
    return text;
  }
  static constexpr unsigned control = ~0x3fu & 0xffffu;  // the rest are flags of what happened
  const std::string& file_;
  unsigned before_ = _mm_getcsr();
};

const boost::dll::shared_library& open(const std::string& file) {
  try {
    // All symbols now: a missing one is an error here, not a crash when it is called.
    // Local: plugins do not see each other's symbols.
    return kept_forever(boost::dll::shared_library(
        file, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local));
  } catch (const std::system_error& error) {
    throw PluginError(file + ": plugin file is refused by the dynamic linker with '" +
                      linker_message(error) +
                      "', expected a library whose symbols and shared libraries are all found");
  }
}

/// Says where others than the owner may put code that will run here.
void warn_of_writers(const std::string& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0 || (status.st_mode & S_IWOTH) == 0) return;
  detail::log_warning(
      folder +
      ": plugin folder is writable by everybody, expected one that its owner alone may write "
      "(whoever puts a library there runs code in this program: chmod o-w '" +
      folder + "')");
}

/// A path without symbolic links; "" if nothing is there. In one go: the library's own function
/// makes a path of each part.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real == nullptr ? "" : real.get();
}

/// A folder of plugins.
struct Folder {
  std::string path;  ///< without symbolic links; "" if there is none
  Files files;
  FolderIndex index;
};

/// Fills in what a folder has.
void look_into(const std::string& name, Folder& folder) {
  std::error_code error;
  if (!fs::exists(name, error) && !error) return;
  warn_of_writers(name);
  folder.path = resolved(name);
  if (folder.path.empty()) folder.path = name;
  folder.files = Files(name, folder.path);
  folder.index = FolderIndex(folder.path);
}

/// A library in a folder that was looked into.
struct Found {
  std::string file, name;
  const Folder* there = nullptr;
};

}  // namespace

struct Loader::State : std::enable_shared_from_this<State> {
  explicit State(Registry& r) : registry(r) {}

  bool knows(const FileIdentity& file) const {
    return std::any_of(files.begin(), files.end(),
                       [&](const FileIdentity& known) { return known.same_file(file); });
  }
  /// Loads a library; one from a folder is passed over if its file name is taken.
  /// @param file    by which it was asked for
  /// @param asked   the same without symbolic links
  /// @param there   knows its siblings
  /// @param folder  in which it was found, or nullptr
  void load(const std::string& file, const std::string& asked, const Files& there,
            const Folder* folder);
  /// Opens a library and takes what it registers.
  /// @param whole  its file is known to be a whole library
  LoadedPlugin open_now(const std::string& name, bool whole = false);
  /// Takes a library by its index; false if it has to be opened now.
  bool take_promise(const FileIdentity& library, const Folder& folder);
  /// Opens a library that was taken by its index, if that was not done yet.
  /// @throws as load(), after which it is not known any more
  void keep_promise(const std::string& name);

  Registry& registry;
  mutable std::mutex mutex;  ///< held while a plugin is loaded: one at a time
  std::vector<LoadedPlugin> plugins;
  std::vector<FileIdentity> files;   ///< of the libraries that run and of their siblings
  std::set<std::string> file_names;  ///< of what was asked for: they shadow later folders
  /// Libraries that were taken by their index and are not open.
  std::map<std::string, FileIdentity> pending;
};

Loader::Loader(Registry& registry) : state_(std::make_shared<State>(registry)) {}
Loader::~Loader() = default;

void Loader::State::load(const std::string& file, const std::string& asked, const Files& there,
                         const Folder* folder) {
  const std::string name = detail::widest_sibling(asked, there);

  const std::lock_guard lock(mutex);
  const std::vector<FileIdentity> variants = detail::variants_of(FileIdentity(name), there);
  if (std::any_of(variants.begin(), variants.end(),
                  [&](const FileIdentity& variant) { return knows(variant); })) {
    if (folder == nullptr) keep_promise(name);
    return;
  }

  const std::string file_name = detail::plain_name(file);
  if (folder != nullptr && file_names.contains(file_name)) {
    detail::log_debug(file + ": passed over, a plugin file of this name is loaded already");
    return;
  }

  if (folder == nullptr || !take_promise(variants.front(), *folder)) {
    plugins.push_back(open_now(name));
  }
  files.insert(files.end(), variants.begin(), variants.end());
  file_names.insert(file_name);
}

LoadedPlugin Loader::State::open_now(const std::string& name, bool whole) {
  if (!whole) detail::check_library_file(name);
  const KeptArithmetic kept(name);
  const boost::dll::shared_library& library = open(name);
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

  detail::log_debug(name + ": loaded plugin '" + plugin.name + "' " + plugin.version);
  return plugin;
}

bool Loader::State::take_promise(const FileIdentity& library, const Folder& folder) {
  const std::string& name = library.path;
  std::optional<detail::PluginIndex> index;
  if (folder.files.exists(name + ".index")) {
    index = folder.index.of(name.substr(name.rfind('/') + 1), library);
  }
  if (!index) index = detail::read_plugin_index(library);
  if (!index) return false;
  const auto open = [self = shared_from_this(), name] {
    const std::lock_guard lock(self->mutex);
    try {
      self->keep_promise(name);
    } catch (const Error& error) {
      detail::log_warning(std::string("plugin refused: ") + error.what());
    }
  };
  if (!registry.promise({name, std::move(index->names), open})) return false;
  pending.emplace(name, library);
  plugins.push_back({index->name, index->version, name,
                     std::string(to_string(detail::instruction_set_of(name)))});
  return true;
}

void Loader::State::keep_promise(const std::string& name) {
  const auto promise = pending.find(name);
  if (promise == pending.end()) return;
  // As it was opened when its index was written.
  const bool whole = promise->second.as_large_and_old(FileIdentity(name));
  pending.erase(promise);
  try {
    open_now(name, whole);
  } catch (const Error&) {
    const std::vector<FileIdentity> variants = detail::variants_of(FileIdentity(name), Files());
    std::erase_if(plugins, [&](const LoadedPlugin& plugin) { return plugin.file == name; });
    std::erase_if(files, [&](const FileIdentity& file) {
      return std::any_of(variants.begin(), variants.end(),
                         [&](const FileIdentity& v) { return v.same_file(file); });
    });
    file_names.erase(detail::plain_name(name));
    registry.forget(name);
    throw;
  }
}

void Loader::load(const std::string& file) {
  state_->load(file, detail::resolved_library(file), Files(), nullptr);
}

std::vector<std::string> Loader::load_folder(const std::string& folder, bool keep_going) {
  return load_path({folder}, keep_going);
}

std::vector<std::string> Loader::load_path(const std::vector<std::string>& folders,
                                           bool keep_going) {
  std::vector<std::string> refused;
  const auto attempt = [&](const auto& action) {
    try {
      action();
    } catch (const Error& error) {
      if (!keep_going) throw;
      refused.emplace_back(error.what());
    }
  };

  std::vector<Folder> there(folders.size());
  std::vector<Found> in_order, shadowed;
  std::set<std::string> taken;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    attempt([&] { look_into(folders[i], there[i]); });
    const std::string& path = there[i].path;
    std::set<std::string> names;
    std::vector<Found> first;
    for (const std::string& name : there[i].files.libraries()) {
      attempt([&] {
        const Found found{(path == "/" ? path : path + '/') + name, name, &there[i]};
        if (!detail::stands_for_plugin(found.file, there[i].files)) return;
        const std::string plain = detail::plain_name(name);
        (taken.contains(plain) ? shadowed : first).push_back(found);
        names.insert(plain);
      });
    }
    in_order.insert(in_order.begin(), first.begin(), first.end());
    taken.merge(names);
  }
  // What is shadowed is passed over, unless what shadows it was refused.
  in_order.insert(in_order.end(), shadowed.begin(), shadowed.end());
  for (const Found& found : in_order) {
    attempt([&] {
      if (found.there->files.is_link(found.name)) {  // its siblings are where it leads to
        state_->load(found.file, detail::resolved_library(found.file), Files(), found.there);
      } else {
        state_->load(found.file, found.file, found.there->files, found.there);
      }
    });
  }
  return refused;
}

std::vector<std::string> Loader::search_path(const std::vector<std::string>& first) {
  std::vector<std::string> result;
  const auto append_resolved = [&](const std::string& folder) {
    if (std::find(result.begin(), result.end(), folder) == result.end()) result.push_back(folder);
  };
  const auto append = [&](const fs::path& folder) {
    if (folder.empty()) return;
    std::error_code error;
    fs::path path = fs::weakly_canonical(fs::absolute(folder, error), error);
    if (error) path = folder;
    if (!path.has_filename()) path = path.parent_path();  // "plugins/" is "plugins"
    append_resolved(path.string());
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

  const auto above = [](const std::string& path) { return path.substr(0, path.rfind('/')); };
  const std::string here = above(resolved(boost::dll::this_line_location().string()));
  const std::string beside = here + "/espalier/plugins", there = resolved(beside);
  append_resolved(there.empty() ? beside : there);
  return result;
}

std::vector<LoadedPlugin> Loader::loaded() const {
  const std::lock_guard lock(state_->mutex);
  return state_->plugins;
}

}  // namespace espalier
