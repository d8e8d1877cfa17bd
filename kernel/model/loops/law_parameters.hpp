#pragma once

#include <memory>
#include <string>
#include <vector>

#include "espalier/kernel/model/law.hpp"
#include "espalier/kernel/model/layout.hpp"

/// Numbers of the laws of a compiled model, and the laws with one of them changed: what derivatives
/// by bar lengths differentiate (theory/derivatives 18).

namespace espalier {

/// A number that a law of a variable cluster was made of.
struct ESPALIER_API LawParameter {
  std::string name;  ///< "<law>.<parameter>", with [k] where the parameter is a list
  std::string law;   ///< its name
  int cluster = 0;   ///< among Model::clusters()
  int use = 0;       ///< which of its ClusterConstraint::laws
  std::string key;   ///< of the parameter
  int entry = 0;     ///< of a list
  double value = 0.0;
  double step = 0.0;  ///< up to four of these to either side the law can be made and is smooth
};

/// Those of all laws that a model's file states, in order. Numbers that select (`branch`), and
/// those at the end of their range, where a law has no neighbours, are left out; so are defaults.
/// @throws Unsupported where the type of a law makes another than the model has, because it was
///         defined anew since
ESPALIER_API std::vector<LawParameter> law_parameters(const Model& model);
/// The law with its number changed. @throws InvalidModel as the law's type does
ESPALIER_API std::unique_ptr<Law> changed_law(const Model& model, const LawParameter& parameter,
                                              double by);

}  // namespace espalier
