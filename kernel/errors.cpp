#include "espalier/kernel/errors.hpp"

namespace espalier {

// The destructors stand here so that each type has one identity (vtable and typeinfo) in the
// kernel, and an exception thrown in a plugin can be caught by its type in the host.
Error::~Error() = default;
InvalidModel::~InvalidModel() = default;
SizeMismatch::~SizeMismatch() = default;
SingularMechanism::~SingularMechanism() = default;
UnknownName::~UnknownName() = default;
DuplicateName::~DuplicateName() = default;
PluginError::~PluginError() = default;
Unsupported::~Unsupported() = default;

}  // namespace espalier
