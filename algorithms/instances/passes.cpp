#define ESPALIER_INSTANCE template
#include "algorithms/instances/passes.hpp"
