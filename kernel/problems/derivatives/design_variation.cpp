#include "espalier/kernel/problems/derivatives/design_variation.hpp"

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/scalar/scalar.hpp"

namespace espalier {

template <class T>
void DesignVariation<T>::columns(In<T> q, In<T> v, In<T> vdot,
                                 const std::vector<std::string>& chosen, OutMatrix<T> columns,
                                 const Loads<T>* loads) {
  const int nv = model().nv();
  columns.expect("design variation", "columns", nv, static_cast<long>(chosen.size()));
  std::vector<std::size_t> which;
  for (const std::string& name : chosen) {
    std::size_t k = 0;
    while (k < families().size() && families()[k].name != name) ++k;
    if (k == families().size()) {
      std::string known;
      for (const Family& f : families()) known += (known.empty() ? "'" : ", '") + f.name + "'";
      throw UnknownName("design variation: family is '" + name +
                        "', expected one of those added (" + (known.empty() ? "none" : known) +
                        ")");
    }
    which.push_back(k);
  }
  std::vector<T> lambda(nv, T(0.0)), gradient(families().size());
  for (int i = 0; i < nv; ++i) {
    lambda[i] = T(1.0);
    evaluate(q, v, vdot, lambda, gradient, loads);
    for (std::size_t k = 0; k < which.size(); ++k) {
      columns.data()[i * which.size() + k] = gradient[which[k]];
    }
    lambda[i] = T(0.0);
  }
  columns.finish();
}

template <class T>
void DesignVariation<T>::by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) {
  const Loads<T> loads{detail::lifted<T>(in.wrenches), nullptr, nullptr};
  BasicResult<Value>& r = detail::result(out, 0, "design_gradient");
  r.shape(ResultAxis::named, static_cast<int>(families().size()), ResultAxis::one, 1);
  r.names.clear();
  for (const Family& f : families()) r.names.push_back(f.name);
  if (families().empty()) {  // a tool that asks for every problem adds none
    this->add_margin(model(), out, 1);
    return;
  }
  detail::answer<T>(r, [&](Out<T> x) {
    evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.vdot),
             detail::multipliers<T>(in, model().nv()), x, &loads);
  });
  this->add_margin(model(), out, 1);
}

#define ESPALIER_INSTANTIATE(T) template class DesignVariation<T>;
ESPALIER_SCALARS(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

}  // namespace espalier
