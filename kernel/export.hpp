#pragma once

#if __cplusplus < 202002L
#error "Espalier: the language is older than C++20, expected it (-std=c++20)"
#endif

#if defined(_GLIBCXX_DEBUG) && !defined(ESPALIER_CHECKED_CONTAINERS)
#error \
    "Espalier: containers are those of _GLIBCXX_DEBUG, expected the plain ones that its \
libraries are built with (leave _GLIBCXX_DEBUG out; or build Espalier, plugins and program with \
-D_GLIBCXX_DEBUG -DESPALIER_CHECKED_CONTAINERS)"
#endif

/// Marks a symbol that leaves a shared library. Everything else stays hidden, so that two plugins
/// may each hold their own copy of an inline function compiled for another instruction set.
#define ESPALIER_API __attribute__((visibility("default")))
