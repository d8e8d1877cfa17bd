#pragma once

#include <espalier/plugin.hpp>

#include "tests/plugins/doubling.hpp"

/// Small things for test plugins to register.

namespace espalier::test {

/// A format whose robots have no links.
class EmptyFormat final : public Format {
 public:
  std::vector<std::string> extensions() const override { return {".empty"}; }
  Description read(std::string_view /*text*/, const std::string& origin,
                   const SubMechanisms& /*parts*/) const override {
    Description robot;
    robot.name = origin;
    return robot;
  }
};

template <class T>
class DoublingByAddition final : public Doubling<T> {
 public:
  using Doubling<T>::Doubling;
  void evaluate(In<T> x, Out<T> twice) override {
    for (long i = 0; i < x.size(); ++i) twice[i] = x[i] + x[i];
  }
};

inline About named(std::string name) { return {std::move(name), "for tests", "none", "O(1)"}; }

}  // namespace espalier::test
