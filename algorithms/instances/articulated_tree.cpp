#define ESPALIER_INSTANCE template
#define ESPALIER_SINGLE ESPALIER_SINGLE_INSTANCE
#include "algorithms/instances/articulated_tree.hpp"
