/** What the server sends: viewer/server/scene/scene.cpp and mechanism.cpp write it. */

export type Seven = number[];  // x y z, qx qy qz qw

export interface Shape {
  kind: string;
  at: Seven;
  name: string;
  color?: number[];
  size?: number[];
  radius?: number;
  length?: number;
  radii?: number[];
  scale?: number[];
  mesh?: number;
  format?: string;
  rows?: number;
  columns?: number;
  base?: number;
  heights?: number[];
}
export interface Link {
  name: string;
  body: number;
  mass: number;
  at: Seven;
  visuals: Shape[];
  collisions: Shape[];
  inertia?: {mass: number; at: Seven; radii: number[]};
}
export interface Body {
  name: string;
  parent: number;
  cluster: number;
  joint: number;
  placement: Seven;
  rotor: boolean;
}
export interface Joint {
  name: string;
  type: string;
  body: number;
  q: number;
  nq: number;
  independent: boolean;
  unit: string;
  lower?: number;
  upper?: number;
}
export interface Cluster {
  name: string;
  parent: number;
  bodies: number[];
  freedoms: number;
  constrained: boolean;
  variable: boolean;
  constraints: string[];
  recognised: string;
}
export interface LoopEnd {body: number; point: number[]}
export interface Loop {name: string; type: string; ends: LoopEnd[]}
export interface SliderInfo {
  name: string;
  label: string;
  joint: number;
  cluster: number;
  lower: number;
  upper: number;
  limited: boolean;
  unit: string;
}
/** The units of which the robot is composed, as `espalier graph --kind subsystems` has them. */
export interface Subsystems {
  nodes: {name: string; type: string; bodies: number[]}[];
  edges: {from: number; to: number; ports: string[]; kind: string}[];
}
/** On bodies, in their axes. */
export interface Reactions {
  joints: {name: string; body: number; at: number[]; force: number[]; moment: number[]; determined: boolean}[];
  rods: {body: number; from: number[]; to: number[]; tension: number}[];
}
/** Forces that motors bear at a link: points of a hull, world axes [N]. */
export interface Strength {
  link: number;
  body: number;
  at: number[];
  kind: string;
  rank: number;
  points: number[][];
  words: string;
}
export interface Scene {
  name: string;
  gravity: number[];
  freedoms: number;
  mass: number;
  bodies: Body[];
  links: Link[];
  joints: Joint[];
  clusters: Cluster[];
  loops: Loop[];
  subsystems: Subsystems;
  frames: {name: string; body: number; at: Seven}[];
  sliders: SliderInfo[];
  problems: string[];
  algorithms?: string[];
  integrators?: string[];
  controllers?: string[];
  algorithm?: string;
  integrator?: string;
  controller?: string;
  compared?: boolean;
  motion?: Motion;
}
export interface Pose {
  bodies: number[];
  q: number[];
  values: number[];
  residual: number;
  margin: number;
  ease: number;  // the margin as a part of what is usual for the loop
  verdict: string;
  words: string;
  cluster: string;
  branch?: string;  // "2 of 3" where it is known
  over: string[];
  reactions?: Reactions;
  strength?: Strength;
  forces_problem?: string;
}
export interface Sample {
  t: number;
  kinetic: number;
  gravity: number;
  springs: number;
  energy: number;
  residual: number;
  v: number[];
  tau: number[];
}
export interface Answer {
  id?: number;
  scene?: Scene;
  pose?: Pose;
  sample?: Sample;
  playing?: boolean;
  frame?: number;  // of a simulation that runs
  other?: Answer;  // of the robot beside
  difference?: number;  // of positions [rad, m]
  error?: string;
  notice?: string;
}
/** Poses of some bodies; what does not move stands in `at` alone. */
export interface Poses {
  bodies: {body: number; moves: boolean; turns: boolean; at: Seven}[];
  rows: (number[] | null)[];
  turn_unit: number;
  place_unit: number;
}
export interface Sweep extends Poses {
  sliders: number[];
  samples: number;
  residuals: (number | null)[];
  margins: (number | null)[];
}
export interface Motion extends Poses {
  times: number[];
  residuals: number[];
  margins: number[];
  values: number[][];
  columns: string[];
  charts: number[][];
}
export interface Exported {
  scene: Scene;
  pose: Pose;
  sweeps?: Sweep[];
  sweep?: string;  // the coordinate that plays
  motion?: Motion;
  meshes: (string | null)[];
}
