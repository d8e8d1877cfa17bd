#pragma once

/// Marks a symbol that leaves a shared library. Everything else stays hidden, so that two plugins
/// may each hold their own copy of an inline function compiled for another instruction set.
#define ESPALIER_API __attribute__((visibility("default")))
