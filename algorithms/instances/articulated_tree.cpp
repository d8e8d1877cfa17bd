#define ESPALIER_INSTANCE template
#include "algorithms/instances/articulated_tree.hpp"
