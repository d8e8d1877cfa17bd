#include "espalier/kernel/guard.hpp"

#include <cxxabi.h>
#include <boost/core/demangle.hpp>

#include "espalier/kernel/errors.hpp"

namespace espalier::detail {

void blame(const std::string& who, const std::string& doing) {
  std::string thrown;
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const abi::__forced_unwind&) {  // a thread ends; nobody may stop it
    throw;
  } catch (const std::exception& error) {
    thrown = "'" + std::string(error.what()) + "'";
  } catch (...) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    thrown = type == nullptr ? "a foreign exception"
                             : "a value of type " + boost::core::demangle(type->name());
  }
  throw PluginError(who + ": " + doing + " threw " + thrown + ", expected no exception");
}

}  // namespace espalier::detail
