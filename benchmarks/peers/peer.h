#pragma once

/// What a peer's module offers to the benchmark program: plain C and plain doubles, because the
/// module is compiled with other flags than Espalier (another alignment of Eigen's types, another
/// instruction set) and must share no C++ type with it.
///
/// States are in Espalier's conventions: for a floating root first x y z, qx qy qz qw (twist and
/// wrench: angular first, root's frame), then one number for each joint, in the order of
/// espalier_peer_robot::joints. The module converts to its library's conventions outside of what is
/// timed.

// NOLINTBEGIN(modernize-use-using): an interface in C
enum {
  espalier_peer_forward,
  espalier_peer_inverse,
  espalier_peer_mass_matrix,
  espalier_peer_inverse_osim,
  espalier_peer_inverse_osim_2, /* another way to do the same */
  espalier_peer_inverse_osim_3,
  espalier_peer_forward_batch, /* the library's own loop over espalier_peer_batch_size states */
  espalier_peer_inverse_batch,
  espalier_peer_jacobian,            /* of the last of the links */
  espalier_peer_jacobians,           /* of all of them, one after the other into one matrix */
  espalier_peer_placements,          /* of all of them, from positions alone */
  espalier_peer_inverse_derivatives, /* by q and by v along tangents, and the mass matrix */
  espalier_peer_forward_derivatives, /* likewise, and the inverse of the mass matrix */
  espalier_peer_inverse_mass_matrix,
  espalier_peer_bias_forces,
  espalier_peer_center_of_mass, /* its position, velocity and acceleration */
  espalier_peer_energy          /* kinetic, potential */
};
enum {
  espalier_peer_way_count = 17,
  espalier_peer_state_count = 16,
  espalier_peer_batch_size = 4096
};

typedef struct espalier_peer_robot {
  const char* urdf;          /* the file's text */
  const char* root;          /* name of the root link */
  int floating;              /* whether the root hangs on a floating joint or is the ground */
  const char* const* joints; /* names of the joints that move, each of one degree of freedom */
  const char* const* links;  /* names of the links that hang on them */
  int joint_count;
  const char* const* held; /* links whose six components of the twist are the task */
  int held_count;
} espalier_peer_robot;

typedef struct espalier_peer {
  const char* library;                        /* name and version */
  const char* names[espalier_peer_way_count]; /* what the library calls each, null: has none */
  const char* remark;                         /* what a reader of the times should know, or "" */
  /* Largest relative difference from Espalier's results with which it is timed; more than 1e-8
     only where the library's reader is known to change the robot by rounding. */
  double agreement;

  /* Returns 0 and a message if the library cannot read the robot. */
  void* (*open)(const espalier_peer_robot* robot, char* message, int message_size);
  void (*close)(void* handle);
  /* Sets the inputs of one of the states. */
  void (*set)(void* handle, int state, const double* q, const double* v, const double* tau,
              const double* vdot);
  /* The work for one of the states, or for a batch that has the states in turn (whatever `state`):
     what is timed. */
  void (*run[espalier_peer_way_count])(void* handle, int state);
  /* Result of the last run for this state: vdot, tau, or the matrix by rows (inverse osim and
     Jacobians: axes of the links, angular first; of all links one below the other). Placements: of
     each link its origin and the rotation to world axes by rows. Derivatives: three matrices by
     rows, by q, by v and the last. */
  void (*read[espalier_peer_way_count])(void* handle, int state, double* result);
} espalier_peer;

typedef const espalier_peer* (*espalier_peer_entry)(void);
// NOLINTEND(modernize-use-using)
