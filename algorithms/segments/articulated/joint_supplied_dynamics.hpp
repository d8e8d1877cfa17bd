#pragma once

#include <algorithm>
#include <vector>

#include "espalier/kernel/model/layout.hpp"

namespace espalier {

/// The equations of motion that a joint brings with it (JointType::has_equations), one body at a
/// time: M, and f = M yd + h at some accelerations yd = (alpha, a, qdd) of the parent body, whose
/// point at the origin accelerates by a, and of the rates. Frame: the parent body's.
template <class T>
class JointSuppliedDynamics {
 public:
  explicit JointSuppliedDynamics(const Model& model) : model_(model) {
    int largest = 0;
    for (const int i : model.bodies_with_equations()) {
      largest = std::max(largest, 6 + model.body(i).nv);
    }
    M_.resize(largest * largest);
    f_.resize(largest);
  }

  /// M and h. @param q, qd  all spanning positions and rates; w: of the parent body
  void update(int body, const T* q, const T* qd, const Vec3<T>& w) {
    nv_ = model_.body(body).nv;
    model_.equations(body, q, qd, w, M_.data(), f_.data());
    for (int i = 0; i < size(); ++i) {
      for (int j = 0; j < i; ++j) M_[j * size() + i] = M_[i * size() + j];
    }
  }
  /// h becomes f. @param qdd  of the joint's rates, or nullptr for zero
  void accelerate(const Vec3<T>& alpha, const Vec3<T>& a, const T* qdd) {
    for (int i = 0; i < size(); ++i) {
      const T* row = M_.data() + i * size();
      for (int k = 0; k < 3; ++k) f_[i] += row[k] * alpha[k] + row[3 + k] * a[k];
      for (int k = 0; qdd != nullptr && k < nv_; ++k) f_[i] += row[6 + k] * qdd[k];
    }
  }
  /// From the parent's axes to those in which its are the rows of E, same origin.
  void turn(const Mat3<T>& E) {
    const auto turn_rows = [&](T* matrix, int columns) {
      for (int block = 0; block < 6; block += 3) {
        for (int c = 0; c < columns; ++c) {
          T* x = matrix + block * columns + c;
          const Vec3<T> y = transpose_times(E, Vec3<T>{x[0], x[columns], x[2 * columns]});
          x[0] = y.x, x[columns] = y.y, x[2 * columns] = y.z;
        }
      }
    };
    turn_rows(f_.data(), 1);
    for (int pass = 0; pass < 2; ++pass) {
      turn_rows(M_.data(), size());
      for (int i = 0; i < size(); ++i) {
        for (int j = 0; j < i; ++j) std::swap(M_[i * size() + j], M_[j * size() + i]);
      }
    }
  }

  // By update() alone: mass [kg], mass times its centre seen from the parent's origin, and the
  // momentum and kinetic energy for a twist of the parent and rates.
  T mass() const { return M_[3 * size() + 3]; }
  Vec3<T> first_moment() const {  // the block of M that is [h x]
    return {M_[2 * size() + 4], M_[0 * size() + 5], M_[1 * size() + 3]};
  }
  Force<T> momentum(const Motion<T>& v, const T* qd) const {
    Force<T> p = Force<T>::zero();
    for (int i = 0; i < 6; ++i) {
      for (int k = 0; k < size(); ++k) p[i] += M_[i * size() + k] * (k < 6 ? v[k] : qd[k - 6]);
    }
    return p;
  }
  T kinetic_energy(const Motion<T>& v, const T* qd) const {
    T energy = 0.5 * dot(v, momentum(v, qd));
    for (int i = 0; i < nv_; ++i) {
      for (int k = 0; k < size(); ++k) {
        energy += 0.5 * qd[i] * M_[(6 + i) * size() + k] * (k < 6 ? v[k] : qd[k - 6]);
      }
    }
    return energy;
  }

  int size() const { return 6 + nv_; }
  /// size x size, both triangles.
  const T* M() const { return M_.data(); }
  const T* f() const { return f_.data(); }
  /// Its first six numbers.
  Force<T> wrench() const { return {{f_[0], f_[1], f_[2]}, {f_[3], f_[4], f_[5]}}; }

 private:
  const Model& model_;
  int nv_ = 0;
  std::vector<T> M_, f_;
};

}  // namespace espalier
