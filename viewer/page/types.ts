/** What the server sends: viewer/server/scene.cpp and mechanism.cpp write it. */

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
  joint: number;
  cluster: number;
  lower: number;
  upper: number;
  limited: boolean;
  unit: string;
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
  frames: {name: string; body: number; at: Seven}[];
  sliders: SliderInfo[];
  problems: string[];
  algorithms?: string[];
  integrators?: string[];
  algorithm?: string;
  integrator?: string;
  motion?: Motion;
}
export interface Pose {
  bodies: number[];
  q: number[];
  values: number[];
  residual: number;
  margin: number;
  verdict: string;
  words: string;
  cluster: string;
  over: string[];
}
export interface Sample {
  t: number;
  kinetic: number;
  gravity: number;
  springs: number;
  energy: number;
  v: number[];
}
export interface Answer {
  id?: number;
  scene?: Scene;
  pose?: Pose;
  sample?: Sample;
  playing?: boolean;
  frame?: number;  // of a simulation that runs
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
  motion?: Motion;
  meshes: (string | null)[];
}
