#pragma once

#include "espalier/kernel/errors.hpp"

/// All errors of Espalier, for programs that handle them. Every one is an `espalier::Error` (a
/// std::runtime_error), whose message names the thing, what it is and what was expected:
///
///   try {
///     auto robot = host.load(file);
///     auto dynamics = host.create<espalier::ForwardDynamics<double>>("aba", robot);
///   } catch (const espalier::InvalidModel& error) {       // the file is no robot: tell its author
///     std::cerr << error.what() << '\n';                  // names file, line, link and joint
///   } catch (const espalier::Unsupported& error) {        // the robot has loops: names what can
///     dynamics = host.create<espalier::ForwardDynamics<double>>("c-aba", robot);
///   } catch (const espalier::Error& error) {              // everything else
///     std::cerr << error.what() << '\n';
///   }
///
///   InvalidModel       a file that does not follow its format, a robot that cannot be computed
///   UnknownName        of a joint, link, algorithm, format, ...; the message lists the known ones
///   DuplicateName      the message names both origins
///   SizeMismatch       a vector or matrix of another size than the model's
///   SingularMechanism  there is no answer at this state
///   Unsupported        an algorithm that cannot do this exactly; names one that can
///   PluginError        a plugin that cannot be used; names the file
