#include "traced_law.hpp"
#include "espalier/plugins/registrar.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <mutex>

#include "espalier/kernel/model/law.hpp"
#include "espalier/kernel/scalar/dual.hpp"
#include "espalier/kernel/scalar/functions.hpp"
#include "espalier/kernel/scalar/jet.hpp"

namespace espalier::python {

namespace {

constexpr std::array<const char*, 12> operation_names{
    "add",    "subtract",    "multiply",    "divide",      "negate",   "sine",
    "cosine", "sine_cosine", "square_root", "arc_tangent", "absolute", "select_less"};

}  // namespace

template <class T>
void Tape::run(const double* values, std::initializer_list<std::pair<const T*, int>> in,
               T* out) const {
  alignas(T) std::byte storage[most_registers * sizeof(T)];
  T* const r = reinterpret_cast<T*>(storage);
  int next = 0;
  for (const auto& [x, count] : in) {
    for (int i = 0; i < count; ++i) std::construct_at(r + next++, x[i]);
  }
  for (const auto& [index, to] : constants) std::construct_at(r + to, T(values[index]));
  for (const Instruction& i : instructions) {
    switch (i.operation) {
      case Operation::add:
        std::construct_at(r + i.to, r[i.a] + r[i.b]);
        break;
      case Operation::subtract:
        std::construct_at(r + i.to, r[i.a] - r[i.b]);
        break;
      case Operation::multiply:
        std::construct_at(r + i.to, r[i.a] * r[i.b]);
        break;
      case Operation::divide:
        std::construct_at(r + i.to, r[i.a] / r[i.b]);
        break;
      case Operation::negate:
        std::construct_at(r + i.to, -r[i.a]);
        break;
      case Operation::sine:
        std::construct_at(r + i.to, sin(r[i.a]));
        break;
      case Operation::cosine:
        std::construct_at(r + i.to, cos(r[i.a]));
        break;
      case Operation::sine_cosine: {
        T s, c;
        sincos(r[i.a], s, c);
        std::construct_at(r + i.to, s);
        std::construct_at(r + i.b, c);
        break;
      }
      case Operation::square_root:
        std::construct_at(r + i.to, sqrt(r[i.a]));
        break;
      case Operation::arc_tangent:
        std::construct_at(r + i.to, atan2(r[i.a], r[i.b]));
        break;
      case Operation::absolute:
        std::construct_at(r + i.to, abs(r[i.a]));
        break;
      case Operation::select_less:
        std::construct_at(r + i.to, select_less(r[i.a], r[i.b], r[i.c], r[i.d]));
        break;
    }
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) out[k] = r[outputs[k]];
}

namespace {

/// A law with the constants of one instance.
class TapeLaw final : public Law {
 public:
  TapeLaw(std::shared_ptr<const TracedLaw> law, const std::vector<double>& parameters)
      : law_(std::move(law)), constants_(law_->setup.outputs.size()) {
    law_->setup.run<double>(law_->literals.data(),
                            {{parameters.data(), static_cast<int>(parameters.size())}},
                            constants_.data());
  }

  int positions() const override { return law_->positions; }
  int equations() const override { return law_->equations; }
  bool is_explicit() const override { return law_->is_explicit; }
  int terms() const override { return law_->terms; }

#define ESPALIER_OVERRIDE(T)                                          \
  void phi(const T* q, T* phi) const override {                       \
    law_->phi.run<T>(constants_.data(), {{q, law_->positions}}, phi); \
  }
  ESPALIER_SCALARS(ESPALIER_OVERRIDE)
#undef ESPALIER_OVERRIDE
#define ESPALIER_OVERRIDE(T)                                                                      \
  void jacobian(const T* q, T* K, T* terms) const override {                                      \
    /* K and the terms in one line of operations. */                                              \
    T both[most_outputs];                                                                         \
    law_->jacobian.run<T>(constants_.data(), {{q, law_->positions}}, both);                       \
    const int size = law_->equations * law_->positions;                                           \
    std::copy_n(both, size, K);                                                                   \
    std::copy_n(both + size, law_->terms, terms);                                                 \
  }                                                                                               \
  void bias(const T* q, const T* qd, const T* terms, T* k) const override {                       \
    law_->bias.run<T>(constants_.data(),                                                          \
                      {{q, law_->positions}, {qd, law_->positions}, {terms, law_->terms}}, k);    \
  }                                                                                               \
  /* Taylor coefficients in t over dual numbers in e, as for laws in C++ (law_adapter.hpp). */    \
  void vary(const T* q, const T* qd, const T* qdd, const T* x, const T* xd, T* d, T* dd)          \
      const override {                                                                            \
    std::vector<Jet<Dual<T>>> path(law_->positions), phi(law_->equations);                        \
    for (int i = 0; i < law_->positions; ++i) {                                                   \
      path[i] = {Dual<T>(q[i], x[i]), Dual<T>(qd[i], xd[i]), Dual<T>(qdd[i], T(0.0))};            \
    }                                                                                             \
    law_->phi.run<Jet<Dual<T>>>(constants_.data(), {{path.data(), law_->positions}}, phi.data()); \
    for (int i = 0; i < law_->equations; ++i) d[i] = phi[i].d.d, dd[i] = phi[i].dd.d;             \
  }
  ESPALIER_SCALARS(ESPALIER_OVERRIDE)
  ESPALIER_OVERRIDE(Dual<double>)
#undef ESPALIER_OVERRIDE

  void as_written(const double* in, double* out) const override {
    const Tape& tape = law_->is_explicit ? law_->solution : law_->phi;
    const int independent = law_->is_explicit ? law_->positions - law_->equations : law_->positions;
    tape.run<double>(constants_.data(), {{in, independent}}, out);
  }

  int branches() const override { return law_->is_explicit ? 1 : 0; }
  bool solve(double* q, int /*branch*/) const override {
    if (!law_->is_explicit) return false;
    const int independent = law_->positions - law_->equations;
    law_->solution.run<double>(constants_.data(), {{q, independent}}, q + independent);
    return true;
  }

  static constexpr int most_outputs = 256;

 private:
  std::shared_ptr<const TracedLaw> law_;
  std::vector<double> constants_;
};

/// A kind of law that Python traced, and may trace anew: models that are compiled already keep the
/// law that they have.
class TapeLawType final : public LawType {
 public:
  explicit TapeLawType(std::shared_ptr<const TracedLaw> law) { define(std::move(law)); }

  void define(std::shared_ptr<const TracedLaw> law) const {
    const std::scoped_lock lock(mutex_);
    all_.push_back(std::move(law));  // kept: names of parameters point into it
  }
  std::vector<std::string_view> parameter_names() const override {
    const auto law = current();
    return {law->parameters.begin(), law->parameters.end()};
  }
  int positions() const override { return current()->positions; }
  Parameters sample() const override {
    const auto law = current();
    Parameters out;
    for (std::size_t k = 0; k < law->parameters.size(); ++k) {
      out[law->parameters[k]] = {law->sample[k]};
    }
    return out;
  }
  std::unique_ptr<Law> make(const PartSpec& spec) const override {
    const auto law = current();
    std::vector<double> values;
    for (std::size_t k = 0; k < law->parameters.size(); ++k) {
      std::optional<double> fallback;
      if (!law->defaults[k].empty()) fallback = law->defaults[k].front();
      values.push_back(spec.number(law->parameters[k], fallback));
    }
    return std::make_unique<TapeLaw>(law, values);
  }

 private:
  std::shared_ptr<const TracedLaw> current() const {
    const std::scoped_lock lock(mutex_);
    return all_.back();
  }

  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const TracedLaw>> all_;
};

Tape read_tape(const py::dict& from, const std::string& law, std::size_t constants) {
  Tape tape;
  tape.inputs = from["inputs"].cast<int>();
  tape.registers = from["registers"].cast<int>();
  if (tape.registers > Tape::most_registers) {
    throw Unsupported("law '" + law + "': number of registers is " +
                      std::to_string(tape.registers) + ", expected at most " +
                      std::to_string(Tape::most_registers) + " (split the mechanism)");
  }
  const auto refuse = [&] {
    throw Error("law '" + law + "': tape is inconsistent, expected what espalier.trace makes");
  };
  const auto registered = [&](int r) {
    if (r < 0 || r >= tape.registers) refuse();
    return static_cast<std::uint16_t>(r);
  };
  for (const py::handle item : from["constants"]) {
    const auto [index, to] = item.cast<std::pair<int, int>>();
    if (index < 0 || static_cast<std::size_t>(index) >= constants) refuse();
    tape.constants.emplace_back(index, registered(to));
  }
  for (const py::handle item : from["instructions"]) {
    const auto tuple = item.cast<std::tuple<std::string, int, int, int, int, int>>();
    const auto* const name =
        std::find(operation_names.begin(), operation_names.end(), std::get<0>(tuple));
    if (name == operation_names.end()) refuse();
    tape.instructions.push_back({static_cast<Operation>(name - operation_names.begin()),
                                 registered(std::get<1>(tuple)), registered(std::get<2>(tuple)),
                                 registered(std::get<3>(tuple)), registered(std::get<4>(tuple)),
                                 registered(std::get<5>(tuple))});
  }
  for (const py::handle r : from["outputs"]) tape.outputs.push_back(registered(r.cast<int>()));
  return tape;
}

std::shared_ptr<const TracedLaw> read_law(const py::dict& from) {
  auto law = std::make_shared<TracedLaw>();
  law->name = from["name"].cast<std::string>();
  law->positions = from["positions"].cast<int>();
  law->equations = from["equations"].cast<int>();
  law->is_explicit = from["is_explicit"].cast<bool>();
  law->parameters = from["parameters"].cast<std::vector<std::string>>();
  law->defaults = from["defaults"].cast<std::vector<std::vector<double>>>();
  law->sample = from["sample"].cast<std::vector<double>>();
  law->literals = from["literals"].cast<std::vector<double>>();
  law->terms = from["terms"].cast<int>();
  law->setup = read_tape(from["setup"], law->name, law->literals.size());
  const std::size_t constants = law->setup.outputs.size();
  law->phi = read_tape(from["phi"], law->name, constants);
  law->jacobian = read_tape(from["jacobian"], law->name, constants);
  law->bias = read_tape(from["bias"], law->name, constants);
  law->solution = read_tape(from["solution"], law->name, constants);
  const int outputs = law->positions * law->equations + law->terms;
  if (outputs > TapeLaw::most_outputs) {
    throw Unsupported("law '" + law->name + "': number of entries of K and of terms is " +
                      std::to_string(outputs) + ", expected at most " +
                      std::to_string(TapeLaw::most_outputs) + " (split the mechanism)");
  }
  return law;
}

}  // namespace

void bind_traced_law(py::module_& module) {
  module.attr("_operations") = py::tuple(py::cast(operation_names));
  module.def(
      "register_law",
      [](Host& host, const py::dict& traced, const std::string& summary) {
        const auto law = read_law(traced);
        for (const Entry* e : host.registry().entries(Kind::law)) {
          if (e->about.name != law->name) continue;
          if (const auto* type = dynamic_cast<const TapeLawType*>(e->law.get())) {
            type->define(law);
            return;
          }
        }
        Registrar registrar("Python");
        registrar.add(Kind::law, {.name = law->name, .summary = summary}).law =
            std::make_shared<const TapeLawType>(law);
        host.registry().commit(std::move(registrar));
      },
      py::arg("host"), py::arg("traced"), py::arg("summary"),
      "Registers a traced law; one of the same name that Python traced is replaced for robots "
      "that are compiled from now on.");
  module.def(
      "evaluate_law",
      [](const Host& host, const std::string& name, const std::map<std::string, double>& parameters,
         const std::vector<double>& q, const std::vector<double>& qd) {
        PartSpec spec;
        spec.what = "law";
        spec.name = name;
        for (const auto& [key, value] : parameters) spec.parameters[key] = {value};
        const auto law = host.registry().law(name).make(spec);
        const int n = law->positions(), m = law->equations();
        expect_size("evaluate_law", "q", static_cast<long>(q.size()), n);
        expect_size("evaluate_law", "qd", static_cast<long>(qd.size()), n);
        std::vector<double> phi(m), K(m * n), terms(law->terms() + 1), k(m);
        law->phi(q.data(), phi.data());
        law->jacobian(q.data(), K.data(), terms.data());
        law->bias(q.data(), qd.data(), terms.data(), k.data());
        return py::make_tuple(phi, K, k);
      },
      py::arg("host"), py::arg("name"), py::arg("parameters"), py::arg("q"), py::arg("qd"),
      "phi, K (row-major) and k of any registered law.");
}

}  // namespace espalier::python
