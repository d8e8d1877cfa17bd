#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "espalier/kernel/model/model_types.hpp"
#include "espalier/kernel/problems/algorithm.hpp"
#include "espalier/kernel/problems/setup.hpp"

namespace espalier {

class Format;
class Integrator;
class QuadraticProgramSolver;
class Registrar;
struct PartSpec;

/// What can be registered.
enum class Kind {
  joint,
  loop_joint,
  law,
  sub_mechanism,
  format,
  algorithm,
  integrator,
  qp_solver,
  pack_code
};
/// "joint", "sub-mechanism", ...
ESPALIER_API std::string_view to_string(Kind kind);

/// What an entry says of itself; `espalier list` prints it.
struct About {
  // Initialized, so that a list that leaves one out is no warning.
  std::string name{};     ///< by which it is asked for
  std::string summary{};  ///< one line: what it is or computes
  std::string source{};   ///< where the method is from
  std::string cost{};     ///< e.g. "O(n)"
};

using AlgorithmFactory = std::function<std::unique_ptr<Algorithm>(const Setup&)>;  ///< by setup
using IntegratorFactory = std::function<std::unique_ptr<Integrator>(
    const Setup&, const PartSpec& options)>;                                       ///< by setup
using QpSolverFactory = std::function<std::unique_ptr<QuadraticProgramSolver>()>;  ///< makes one

/// One registered thing. Entries of a registry never change or move.
struct Entry {
  Kind kind = Kind::joint;  ///< what it is
  About about;              ///< name, summary, source, cost
  std::string origin;       ///< file of the plugin, or "built in"

  // By kind, one of these is set.
  std::shared_ptr<const JointType> joint;             ///< a joint type
  std::shared_ptr<const LoopJoint> loop_joint;        ///< what closes loops alone
  std::shared_ptr<const LawType> law;                 ///< a law
  std::shared_ptr<const SubMechanism> sub_mechanism;  ///< a piece of a robot
  std::shared_ptr<const Format> format;               ///< a file format
  std::shared_ptr<const PackCode> pack_code;          ///< code on packs
  IntegratorFactory integrator;                       ///< makes an integrator
  std::vector<std::string_view> options;              ///< of an integrator
  QpSolverFactory qp_solver;                          ///< makes a solver
  // Algorithms:
  std::string problem;  ///< that an algorithm solves
  /// In its Setup; said by the problem.
  bool needs_end_effectors = false, needs_inputs = false, needs_sensors = false;
  Capabilities capabilities;  ///< of an algorithm
  std::array<AlgorithmFactory, scalar_count>
      algorithm;  ///< by ScalarTraits<T>::index; may be empty
};

/// Answer to "can this algorithm run on this model?".
struct Verdict {
  bool ok = false;                        ///< whether it can
  bool exact = true;                      ///< false: approximates
  std::vector<std::string_view> scalars;  ///< at which it can be had
  std::string obstacle;                   ///< what stands in the way: "" if ok
  std::vector<std::string> alternatives;  ///< that solve the same problem and can; exact ones first
};

/// All that is known by name. Safe to use from several threads; entries live as long as it does.
class ESPALIER_API Registry final : public ModelTypes, public SubMechanisms {
 public:
  Registry();
  ~Registry() override;
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// Takes all entries of the registrar, or none. Two entries are the same thing if they have one
  /// kind and name and, for algorithms, one problem.
  /// @throws DuplicateName naming both origins; PluginError for an entry without name or content
  void commit(Registrar&& registrar);

  /// By which an entry is asked for.
  struct Name {
    Kind kind = Kind::joint;                       ///< what it is
    std::string problem;                           ///< of algorithms, else empty
    std::string name;                              ///< under which it is registered
    bool operator==(const Name&) const = default;  ///< all three are equal
  };
  /// A plugin that is opened when one of its names is asked for.
  struct Promise {
    std::string origin;          ///< file of the plugin
    std::vector<Name> names;     ///< that it promises
    std::function<void()> open;  ///< commits its entries; does not throw
  };
  /// Takes the names of a plugin, all or none.
  /// @return false if one of them is taken, so that the plugin has to be opened to say what it is
  bool promise(Promise promise);
  /// Takes back what a plugin promised.
  void forget(std::string_view origin);
  /// Of all entries; what is promised is not among them.
  std::vector<Name> names() const;

  /// Entries of a kind in the order of their names.
  std::vector<const Entry*> entries(Kind kind) const;
  /// Entries of algorithms for a problem ("" for all).
  std::vector<const Entry*> algorithms(std::string_view problem = "") const;
  /// All problems solved by the algorithm of this name, first registered first.
  std::vector<const Entry*> algorithm_named(std::string_view name) const;
  /// Names of the problems that have algorithms.
  std::vector<std::string> problems() const;

  /// @throws UnknownName listing the known names
  const Entry& find(Kind kind, std::string_view name) const;
  const Entry& find_algorithm(std::string_view problem, std::string_view name) const;  ///< the same
  const JointType& joint_type(std::string_view name) const override;
  const LoopJoint& loop_joint(std::string_view name) const override;
  const LawType& law(std::string_view name) const override;
  /// The one registered as "packs", or that for plain x86-64.
  std::shared_ptr<const PackCode> pack_code() const override;
  std::shared_ptr<LatePackCode> late_pack_code() const override { return late_pack_code_; }
  const SubMechanism* find_sub_mechanism(std::string_view name) const override;
  std::vector<std::string> sub_mechanism_names() const override;
  /// The format for a file name by its ending. @throws UnknownName
  const Format& format_for(std::string_view path) const;

  /// Whether an algorithm runs on a model, and if not, what stands in the way and what can.
  Verdict can(const Entry& algorithm, const Model& model) const;

  /// An algorithm bound to a model.
  /// @throws UnknownName, Unsupported naming the obstacle and what can, PluginError if the factory
  ///         fails
  template <class P>
  std::unique_ptr<P> create(std::string_view name, const Setup& setup) const {
    const Entry& e = find_algorithm(P::problem, name);
    std::unique_ptr<Algorithm> made = make(e, setup, scalar_of(static_cast<P*>(nullptr)));
    // By name of the type, not by address: plugins have their own copies of its type information.
    P* algorithm = dynamic_cast<P*>(made.get());
    if (algorithm == nullptr) refuse_type(e);
    made.release();
    return std::unique_ptr<P>(algorithm);
  }
  /// The same by entry, for code that does not know the problem.
  /// `scalar` is a ScalarTraits<T>::index.
  std::unique_ptr<Algorithm> create(const Entry& algorithm, const Setup& setup,
                                    int scalar = ScalarTraits<double>::index) const {
    return make(algorithm, setup, scalar);
  }

  /// An integrator bound to a model.
  /// Options are by name, e.g. {{"relative_tolerance", {1e-9}}}.
  /// @throws UnknownName for the integrator or an option, InvalidModel for the value of an option,
  ///         PluginError if the factory fails
  std::unique_ptr<Integrator> create_integrator(std::string_view name, const Setup& setup,
                                                const Parameters& options = {}) const;

  /// A solver of quadratic programs. @throws UnknownName, PluginError if the factory fails
  std::unique_ptr<QuadraticProgramSolver> create_qp_solver(std::string_view name) const;

 private:
  template <template <class> class P, class T>
  static constexpr int scalar_of(P<T>*) {
    return ScalarTraits<T>::index;
  }
  /// Kind, problem ("" where there is none) and name; the texts are those of the entry.
  using Key = std::tuple<Kind, std::string_view, std::string_view>;

  /// Opens the plugins that promise a name for which `asked` is true.
  void open_promised(const std::function<bool(const Name&)>& asked) const;
  /// The entry of this name, once its plugin is open; null if nobody knows it.
  const Entry* known(Kind kind, std::string_view problem, std::string_view name) const;
  bool promised(Kind kind, std::string_view name) const;  ///< the mutex is held

  std::unique_ptr<Algorithm> make(const Entry& e, const Setup& setup, int scalar) const;
  [[noreturn]] static void refuse_type(const Entry& e);

  mutable std::mutex mutex_;  ///< guards what follows, never held while a plugin's code runs
  std::vector<std::unique_ptr<const Entry>> entries_;  ///< in the order of registration
  std::map<Key, const Entry*> by_key_;
  mutable std::vector<std::shared_ptr<const Promise>> promises_;
  std::shared_ptr<LatePackCode> late_pack_code_;  ///< pack_code(), for the models
};

/// The end of a sentence about an unknown name: ", expected one of a, b, c (did you mean 'b'?)";
/// the question only where a known name is near.
ESPALIER_API std::string suggest(std::string_view name, const std::vector<std::string>& known);

}  // namespace espalier
