#include "algorithms/instances/passes.hpp"
#undef ESPALIER_INSTANCE  // those before are compiled elsewhere
#undef ESPALIER_SINGLE
#define ESPALIER_INSTANCE template
#define ESPALIER_SINGLE ESPALIER_SINGLE_INSTANCE
#include "algorithms/instances/articulated.hpp"
