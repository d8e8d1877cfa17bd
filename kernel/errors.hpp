#pragma once

#include <stdexcept>
#include <string>

#include "espalier/kernel/export.hpp"

namespace espalier {

/// Base of all errors that Espalier throws.
///
/// Every message has the form
///   `<who>: <what> is <got>, expected <wanted> (<why or what to do>)`
/// and names the link, joint, file and line that it is about. Errors are thrown or logged, never
/// both.
class ESPALIER_API Error : public std::runtime_error {
 public:
  /// An error with its whole message.
  explicit Error(const std::string& message) : std::runtime_error(message) {}
  ~Error() override;
};

/// The robot is not one that can be computed: a massless leaf, a disconnected body, a file that
/// does not follow its format.
class ESPALIER_API InvalidModel : public Error {
 public:
  using Error::Error;
  ~InvalidModel() override;
};

/// A vector or matrix has another size than the model asks for.
class ESPALIER_API SizeMismatch : public Error {
 public:
  using Error::Error;
  ~SizeMismatch() override;
};

/// The mechanism is singular at this state, so that the answer does not exist.
class ESPALIER_API SingularMechanism : public Error {
 public:
  using Error::Error;
  ~SingularMechanism() override;
};

/// A name is not among the known ones; the message lists them.
class ESPALIER_API UnknownName : public Error {
 public:
  using Error::Error;
  ~UnknownName() override;
};

/// A name is given twice; the message names both origins.
class ESPALIER_API DuplicateName : public Error {
 public:
  using Error::Error;
  ~DuplicateName() override;
};

/// A plugin cannot be used; the message names file, expected and found.
class ESPALIER_API PluginError : public Error {
 public:
  using Error::Error;
  ~PluginError() override;
};

/// An algorithm is asked for something that it cannot do exactly; the message names what stands in
/// the way and an algorithm that can.
class ESPALIER_API Unsupported : public Error {
 public:
  using Error::Error;
  ~Unsupported() override;
};

}  // namespace espalier
