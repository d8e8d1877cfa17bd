// Ends with the level of the x86-64 instruction set that this processor has: 4, 3 or 1.

#include "plugins/processor/level.hpp"

int main() { return espalier::detail::level_of_processor(); }
