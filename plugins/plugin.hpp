#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/problems/task.hpp"
#include "espalier/kernel/scalar/scalar.hpp"
#include "espalier/plugins/registrar.hpp"

/// All that a plugin author includes.
///
///   #include <espalier/plugin.hpp>
///   struct MyJoint { ... };
///   ESPALIER_PLUGIN("my-joints", "1.0") {
///     registrar.joint<MyJoint>({.name = "my-joint", .summary = "...", .source = "..."});
///   }
///
/// Build it as a shared module that links espalier::plugin; see README.

namespace espalier {

/// Version of everything in this header's reach that a plugin is compiled against.
inline constexpr std::uint32_t plugin_api_version = 21;

#define ESPALIER_STRINGIFY_(x) #x
#define ESPALIER_STRINGIFY(x) ESPALIER_STRINGIFY_(x)
#if defined(__SANITIZE_THREAD__)
#define ESPALIER_SANITIZER "thread"
#elif defined(__SANITIZE_ADDRESS__)
#define ESPALIER_SANITIZER "address"
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ESPALIER_SANITIZER "thread"
#elif __has_feature(address_sanitizer)
#define ESPALIER_SANITIZER "address"
#endif
#endif
#ifndef ESPALIER_SANITIZER
#define ESPALIER_SANITIZER "none"
#endif
#ifdef _GLIBCXX_DEBUG
#define ESPALIER_CONTAINERS "checked"  // other layouts than the plain ones
#else
#define ESPALIER_CONTAINERS "plain"
#endif
#define ESPALIER_SCALAR_NAME(T) #T ","

/// What a plugin is compiled with that has to agree with its host, as "key=value;" pairs. clang and
/// g++ share one ABI and may be mixed.
#define ESPALIER_FINGERPRINT \
  "compiler_abi=itanium;libstdcxx_cxx11_abi=" ESPALIER_STRINGIFY(                       \
      _GLIBCXX_USE_CXX11_ABI) ";libstdcxx_containers=" ESPALIER_CONTAINERS              \
  ";eigen=" ESPALIER_STRINGIFY(EIGEN_WORLD_VERSION) "." ESPALIER_STRINGIFY(             \
      EIGEN_MAJOR_VERSION) ";eigen_max_align=" ESPALIER_STRINGIFY(EIGEN_MAX_ALIGN_BYTES) \
  ";eigen_max_static_align=" ESPALIER_STRINGIFY(EIGEN_MAX_STATIC_ALIGN_BYTES)           \
  ";scalars=" ESPALIER_SCALARS(ESPALIER_SCALAR_NAME) ";sanitizer=" ESPALIER_SANITIZER ";"

/// What the entry point returns: plain data, so that it can be read before anything is trusted.
/// The first three members keep their places in all versions.
struct PluginHeader {
  std::uint32_t struct_size;                       ///< sizeof(PluginHeader)
  std::uint32_t api_version;                       ///< plugin_api_version
  const char* fingerprint;                         ///< ESPALIER_FINGERPRINT
  const char* name;                                ///< of the plugin
  const char* version;                             ///< of the plugin
  void (*register_entries)(Registrar& registrar);  ///< says what it brings
};

/// Name of the C entry point: const PluginHeader* espalier_plugin().
inline constexpr const char* plugin_entry_point = "espalier_plugin";

}  // namespace espalier

/// Defines the plugin's entry point; the block that follows registers through `registrar`.
#define ESPALIER_PLUGIN(plugin_name, plugin_version)                               \
  static void espalier_register_entries(::espalier::Registrar& registrar);         \
  extern "C" ESPALIER_API const ::espalier::PluginHeader* espalier_plugin();       \
  extern "C" const ::espalier::PluginHeader* espalier_plugin() {                   \
    static const ::espalier::PluginHeader header{sizeof(::espalier::PluginHeader), \
                                                 ::espalier::plugin_api_version,   \
                                                 ESPALIER_FINGERPRINT,             \
                                                 plugin_name,                      \
                                                 plugin_version,                   \
                                                 &espalier_register_entries};      \
    return &header;                                                                \
  }                                                                                \
  static void espalier_register_entries([[maybe_unused]] ::espalier::Registrar& registrar)
