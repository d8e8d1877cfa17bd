#include "formats/yaml/yaml_expression.hpp"

#include <muParser.h>

#include <cmath>
#include <numbers>

#include "espalier/kernel/errors.hpp"
#include "espalier/plugins/registry.hpp"
#include "formats/text.hpp"

namespace espalier::formats {

Expressions::Expressions() = default;
Expressions::~Expressions() = default;

mu::Parser& Expressions::parser() const {
  if (parser_ == nullptr) {
    parser_ = std::make_unique<mu::Parser>();
    parser_->ClearConst();  // its _pi is off by 8e-13
    parser_->DefineConst("pi", std::numbers::pi);
  }
  return *parser_;
}

std::optional<std::string> Expressions::define(const std::string& name, double value) {
  mu::Parser& p = parser();
  const std::string subject = "name of parameter is " + in_quotes(name);
  if (p.GetFunDef().contains(name) || p.GetConst().contains(name)) {
    return subject + ", expected one that is no function or constant of the expressions";
  }
  try {
    p.DefineConst(name, value);
  } catch (const mu::Parser::exception_type&) {
    return subject + ", expected letters, digits and '_', not beginning with a digit";
  }
  names_.push_back(name);
  return std::nullopt;
}

double Expressions::evaluate(const std::string& expression, const std::string& who) const {
  mu::Parser& p = parser();
  double value = 0.0;
  try {
    p.SetExpr(expression);
    value = p.Eval();
  } catch (const mu::Parser::exception_type& error) {
    const std::string subject = who + ": expression " + in_quotes(expression);
    if (error.GetCode() == mu::ecUNASSIGNABLE_TOKEN) {
      std::vector<std::string> known = names_;
      known.emplace_back("pi");
      throw InvalidModel(subject + ": " + in_quotes(error.GetToken()) + " is unknown" +
                         suggest(error.GetToken(), known) +
                         (names_.empty() ? " (there are no parameters)" : ""));
    }
    throw InvalidModel(subject + " is not readable (" + error.GetMsg() +
                       "), expected arithmetic such as $(side * 0.5)");
  }
  if (p.GetNumResults() != 1 || !std::isfinite(value)) {
    throw InvalidModel(who + ": expression " + in_quotes(expression) + " has " +
                       (p.GetNumResults() != 1 ? "several values" : "a value that is not finite") +
                       ", expected one finite number");
  }
  return value;
}

std::optional<std::string> Expressions::inner(std::string_view text) {
  if (text.size() < 3 || !text.starts_with("$(") || !text.ends_with(")")) return std::nullopt;
  return std::string(text.substr(2, text.size() - 3));
}

}  // namespace espalier::formats
