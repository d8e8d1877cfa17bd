#pragma once

#include "peer.h"

/// What a peer's module offers for robots with loops: the spanning tree by numbers, rotors as
/// bodies, and what ties it. Plain C for the reasons in peer.h; states in Espalier's conventions.

// NOLINTBEGIN(modernize-use-using): an interface in C
/* Turns about z of its frame; slides along z; turns about x and then about z; turns freely, by a
   quaternion x, y, z, w and rates about the body's axes. */
typedef enum espalier_loop_joint {
  espalier_loop_revolute,
  espalier_loop_prismatic,
  espalier_loop_universal,
  espalier_loop_spherical
} espalier_loop_joint;

/* A body on its joint (the first of a floating robot: free, whatever it says). */
typedef struct espalier_loop_body {
  espalier_loop_joint joint;
  int parent;         /* from 0; -1: the ground */
  double rotation[9]; /* by rows, of the joint's frame in the parent's */
  double offset[3];
  double mass, com[3]; /* com: in the body's frame */
  double inertia[9];   /* by rows, about the centre of mass */
} espalier_loop_body;

/* A point of one body that is a point of another. */
typedef struct espalier_loop_pin {
  int body[2]; /* -1: the ground */
  double point[2][3];
} espalier_loop_pin;

typedef struct espalier_loop_robot {
  int floating;
  double gravity[3];
  int body_count;
  const espalier_loop_body* bodies; /* in regular numbering; positions and rates in their order */
  int nv;
  const int* independent; /* spanning rate of each independent one */
  const double* G;        /* spanning rates x nv, by rows, constant; or null */
  int pin_count;
  const espalier_loop_pin* pins;
} espalier_loop_robot;

typedef struct espalier_loop_peer {
  const char* library;
  int (*way_count)(void* handle);
  const char* (*way)(void* handle, int way);
  /* Returns 0 and a message if the library cannot build the robot. */
  void* (*open)(const espalier_loop_robot* robot, char* message, int message_size);
  void (*close)(void* handle);
  /* Inputs of a state: spanning positions and rates, forces on independent rates. */
  void (*set)(void* handle, int state, const double* q, const double* v, const double* tau);
  /* Whether a way stops where it is near enough: its error is told, and is no reason to fail. */
  int (*iterates)(void* handle, int way);
  /* Whether a way gives derivatives of forward dynamics, too; it is compared by M^-1. */
  int (*is_derivatives)(void* handle, int way);
  void (*run)(void* handle, int way, int state); /* what is timed */
  /* Of the last run of this way, in independent rates: accelerations, or M^-1 by rows. */
  void (*read)(void* handle, int way, double* out);
} espalier_loop_peer;

typedef const espalier_loop_peer* (*espalier_loop_peer_entry)(void);
// NOLINTEND(modernize-use-using)
