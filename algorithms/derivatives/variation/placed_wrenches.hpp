#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "algorithms/derivatives/variation/variation_terms.hpp"
#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/problems/loads.hpp"

namespace espalier {

template <class T>
class VariationState;

/// The external wrenches of a state in the common frame, and how they vary with its bodies' twists
/// (section 14).
template <class T>
class PlacedWrenches {
 public:
  explicit PlacedWrenches(const Model& model) : model_(model), of_rotor_(model.rotors().size()) {
    wrench_.reserve(model.body_count()), body_.reserve(model.body_count());
    E.assign(model.body_count() + 1, WrenchVariation<T>::zero());
    own_E = E;
  }

  /// Takes memory for more wrenches than one per body.
  void reserve(std::size_t more) {
    wrench_.reserve(wrench_.capacity() + more), body_.reserve(wrench_.capacity() + more);
  }

  /// Those of `loads` alone, at the poses of s.
  void place(const Loads<T>* loads, VariationState<T>& s) {
    wrench_.clear(), body_.clear();
    vary_ = rotors_loaded_ = false;
    if (loads == nullptr) return;
    if (loads->wrenches != nullptr) {
      const Wrenches<T>& on = *loads->wrenches;
      for (int i = 1; i <= model_.active_body_count(); ++i) {
        add_wrench(i, s.body[i].X.transpose_times_force(on[i]));
      }
      place_on_rotors(on, s);
    }
    if (loads->framed != nullptr) add(*loads->framed, s);
  }

  /// More of them.
  /// @throws Unsupported on a folded rotor
  void add(const FramedWrenches<T>& framed, const VariationState<T>& s) {
    for (const auto& item : framed.items()) {
      if (item.body > model_.active_body_count()) refuse_rotor(item.body);
      if (item.body == 0) continue;
      if (item.frame == WrenchFrame::link) {
        add_wrench(item.body, s.body[item.body].X.transpose_times_force(item.wrench));
      } else {
        add_varying(item, s);
      }
    }
    if (!vary_) return;
    std::copy(own_E.begin(), own_E.end(), E.begin());
    for (int i = model_.active_body_count(); i > 0; --i) {
      if (s.support(i) != 0) E[s.support(i)] += E[i];
    }
  }

  /// Takes them off the wrenches that bodies need.
  template <class Bodies>
  void take_off(Bodies& body) const {
    for (std::size_t k = 0; k < wrench_.size(); ++k) body[body_[k]].f -= wrench_[k];
  }

  /// Whether E differs from zero anywhere.
  bool vary() const { return vary_; }
  /// Whether wrenches act on folded rotors.
  bool rotors_loaded() const { return rotors_loaded_; }
  /// Moment about its axis on a folded rotor, where rotors_loaded().
  const T& about_axis(int rotor) const { return of_rotor_[rotor].about; }
  /// How the wrench on a folded rotor varies as the rotor turns, on its parent; it is constant in
  /// the rotor's axes.
  const Force<T>& by_turn(int rotor) const { return of_rotor_[rotor].by_turn; }

  /// Of bodies' wrenches and of composites, where vary().
  std::vector<WrenchVariation<T>> own_E, E;

 private:
  /// Wrenches in the axes of folded rotors act on their parents and, about the axis, on the rate.
  void place_on_rotors(const Wrenches<T>& on, VariationState<T>& s) {
    if (model_.rotors().empty()) return;
    for (const BodyRun& run : model_.runs().subspan(model_.active_runs().size())) {
      s.motion.joints.update(run, s.motion.q(), nullptr);
    }
    rotors_loaded_ = true;
    for (std::size_t r = 0; r < model_.rotors().size(); ++r) {
      const Rotor& rotor = model_.rotors()[r];
      const Transform<T> X = s.motion.joints.X[rotor.body] * s.body[rotor.parent].X;
      const Force<T> f = X.transpose_times_force(on[rotor.body]);
      const Motion<T> axis = X.inverse_times(Motion<T>{{T(0.0), T(0.0), T(1.0)}, Vec3<T>::zero()});
      of_rotor_[r] = {on[rotor.body].n.z, cross_star(axis, f)};
      if (rotor.parent != 0) add_wrench(rotor.parent, f);
    }
  }
  /// One that is constant in world axes.
  void add_varying(const typename FramedWrenches<T>::Item& item, const VariationState<T>& s) {
    if (!vary_) std::fill(own_E.begin(), own_E.end(), WrenchVariation<T>::zero());
    vary_ = true;
    const Transform<T> X = s.common(item.body);
    WrenchVariation<T> e = WrenchVariation<T>::zero();
    if (item.frame == WrenchFrame::world) {
      const Force<T> W = X.force_to(item.wrench);
      add_wrench(item.body, W);
      // s ×* W
      e.nw = Mat3<T>::zero() - cross_matrix(W.n);
      e.nv = e.fw = Mat3<T>::zero() - cross_matrix(W.f);
    } else {
      const Vec3<T> n = X.E * item.wrench.n, f = X.E * item.wrench.f;
      const Transform<T>& place = s.body[item.body].X;
      const Vec3<T> x = place.r + transpose_times(place.E, item.point);
      add_wrench(item.body, {n + cross(x, f), f});
      e.fw = Mat3<T>::zero() - cross_matrix(f);
      e.nw = cross_matrix(x) * e.fw - cross_matrix(n);
    }
    own_E[item.body] += e;
  }
  void add_wrench(int i, const Force<T>& f) { wrench_.push_back(f), body_.push_back(i); }
  [[noreturn]] void refuse_rotor(int i) const {
    throw Unsupported("derivatives: an external wrench is on the rotor '" + model_.body_names()[i] +
                      "', which is folded into its parent, expected none (compile the model with "
                      "its rotors kept as bodies)");
  }

  struct OfRotor {
    T about;           ///< moment about the axis
    Force<T> by_turn;  ///< axis x* wrench, common frame
  };
  const Model& model_;
  std::vector<Force<T>> wrench_;
  std::vector<int> body_;          ///< that each of them acts on
  std::vector<OfRotor> of_rotor_;  ///< where rotors_loaded_
  bool vary_ = false, rotors_loaded_ = false;
};

}  // namespace espalier
