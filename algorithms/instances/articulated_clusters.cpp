#include "algorithms/instances/articulated.hpp"
#undef ESPALIER_INSTANCE  // those before are compiled elsewhere
#define ESPALIER_INSTANCE template
#include "algorithms/instances/articulated_clusters.hpp"
