#include "espalier/plugins/plugin.hpp"
#include "simulation/integrators/dormand_prince.hpp"
#include "simulation/integrators/rk4.hpp"
#include "simulation/integrators/semi_implicit_euler.hpp"

ESPALIER_PLUGIN("integrators", "0.2.0") {
  using namespace espalier;
  registrar.integrator<SemiImplicitEuler>(
      {.name = "semi-implicit-euler",
       .summary = "order 1, symplectic: rates first, then positions with the new rates",
       .source = "Hairer, Lubich, Wanner (2006), section VI.3",
       .cost = "1 evaluation a step"});
  registrar.integrator<Rk4>({.name = "rk4",
                             .summary = "classical Runge-Kutta of order 4, on manifolds",
                             .source = "Celledoni, Marthinsen, Owren (2003)",
                             .cost = "4 evaluations a step"});
  registrar.integrator<DormandPrince>(
      {.name = "dormand-prince",
       .summary = "orders 5 and 4 with steps by tolerance, on manifolds",
       .source = "Dormand, Prince (1980)",
       .cost = "7 evaluations a step"});
}
