#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/problems/operational_space/input_matrix.hpp"
#include "tests/support/random.hpp"

/// Random end-effectors, of every kind that algorithms treat differently.

namespace espalier::test {

/// Tips, and a link of the ground where nothing moves; inputs: something for algorithms that need
/// more than a model.
inline espalier::Setup with_tips(const ModelPtr& model) {
  espalier::Setup setup{model, tips(*model), default_inputs(*model), {}, forward_sensors(*model)};
  if (setup.end_effectors.empty()) {
    setup.end_effectors.push_back(EndEffector::weld(model->links()[0].name));
  }
  return setup;
}

class RandomTask {
 public:
  RandomTask(const Model& model, unsigned long long seed) : model_(model), rng_(seed) {
    switch (seed % 8) {
      case 0:
        add(weld(any_link()));
        break;
      case 1:
        add(rng_.chance(0.5) ? rows(any_link(), 1)
                             : EndEffector::contact(any_link(), rng_.vec3(0.3)));
        break;
      case 2: {  // one on the way of the other to the ground
        const std::string link = any_link();
        add(weld(link));
        add(weld(ancestor(link)));
        break;
      }
      case 3:  // 24 rows
        for (int k = 0; k < 4; ++k) add(weld(any_link()));
        break;
      case 4: {  // a foot: of 12 rows 6 are independent at most
        const std::string link = any_link();
        for (int k = 0; k < 4; ++k) add(EndEffector::contact(link, rng_.vec3(0.2)));
        if (rng_.chance(0.5)) add(weld(any_link()));
        break;
      }
      case 5:
        for (int k = 1 + rng_.below(6); k-- > 0;) add(rows(any_link(), 1 + rng_.below(8)));
        break;
      case 6:
        add(rows(ground(), 3));
        for (const Rotor& rotor : model.rotors()) {
          if (rng_.chance(0.5)) add(weld(model.body_names()[rotor.body]));
        }
        add(weld(any_link()));
        add(rows(ancestor(all_.back().link), 3));
        break;
      default: {  // multiples and sums of rows
        EndEffector e = rows(any_link(), 2);
        e.rows.push_back(e.rows[0]);
        e.rows.push_back({});
        for (int i = 0; i < 6; ++i) e.rows[3][i] = e.rows[0][i] - 2.0 * e.rows[1][i];
        add(e);
        add(e);
        add(EndEffector::contact(any_link(), rng_.vec3(0.3)));
      }
    }
    rng_.shuffle(all_);
  }

  const std::vector<EndEffector>& end_effectors() const { return all_; }

 private:
  void add(EndEffector e) { all_.push_back(std::move(e)); }
  EndEffector weld(const std::string& link) {
    using Axes = EndEffector::Axes;
    return EndEffector::weld(link, rng_.vec3(0.3), rng_.chance(0.5) ? Axes::link : Axes::world);
  }
  EndEffector rows(const std::string& link, int count) {
    EndEffector e = weld(link);
    e.rows.resize(count);
    for (EndEffector::Row& row : e.rows) {
      for (double& x : row) x = rng_.uniform();
    }
    return e;
  }
  std::string any_link() {
    return model_.links()[rng_.below(static_cast<int>(model_.links().size()))].name;
  }
  std::string ground() {
    for (const Link& link : model_.links()) {
      if (link.body == 0) return link.name;
    }
    return any_link();
  }
  std::string ancestor(const std::string& link) {
    int body = model_.link(link).body;
    for (int steps = 1 + rng_.below(4); steps-- > 0 && body != 0;) {
      if (model_.body(body).parent != 0) body = model_.body(body).parent;
    }
    return body == 0 ? ground() : model_.body_names()[body];
  }

  const Model& model_;
  Rng rng_;
  std::vector<EndEffector> all_;
};

inline std::vector<EndEffector> random_end_effectors(const Model& model, unsigned long long seed) {
  return RandomTask(model, seed).end_effectors();
}

}  // namespace espalier::test
