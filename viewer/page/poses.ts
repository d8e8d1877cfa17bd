/** Sampled poses of exported files. */
import * as THREE from 'three';
import type {Poses, Seven, Sweep} from './types';

/** Row of poses as seven numbers a body. */
export function row(poses: Poses, index: number): Seven[] | null {
  const numbers = poses.rows[index];
  if (!numbers) return null;
  let at = 0;
  return poses.bodies.map((b) => {
    const out = b.at.slice();
    if (b.moves) for (let k = 0; k < 3; ++k) out[k] = numbers[at++] / poses.place_unit;
    if (b.turns) for (let k = 3; k < 7; ++k) out[k] = numbers[at++] / poses.turn_unit;
    return out;
  });
}

/** Between two rows: places on a line, turns on the shortest arc. */
export function blend(a: Seven[], b: Seven[], part: number): Seven[] {
  const from = new THREE.Quaternion(), to = new THREE.Quaternion();
  return a.map((p, i) => {
    const out = p.map((x, k) => x + part * (b[i][k] - x));
    from.fromArray(p, 3).normalize().slerp(to.fromArray(b[i], 3).normalize(), part).toArray(out, 3);
    return out;
  });
}

export interface Swept {poses: Seven[]; residual: number; margin: number}

/** The pose of a sweep at places between its samples, 0 to samples - 1 along each slider. */
export function sweepAt(sweep: Sweep, places: number[]): Swept | null {
  const cell = (index: number) => {
    const r = row(sweep, index);
    return r && {poses: r, residual: sweep.residuals[index]!, margin: sweep.margins[index]!};
  };
  const mix = (a: Swept | null, b: Swept | null, part: number): Swept | null => {
    if (part < 1e-9) return a;
    if (part > 1 - 1e-9) return b;
    if (!a || !b) return null;
    return {poses: blend(a.poses, b.poses, part), residual: Math.max(a.residual, b.residual),
      margin: a.margin + part * (b.margin - a.margin)};
  };
  const last = sweep.samples - 1;
  const [i, j] = places.map((p) => Math.min(Math.floor(p), Math.max(0, last - 1)));
  if (places.length === 1) return mix(cell(i), cell(i + 1), places[0] - i);
  const n = sweep.samples, part = places[1] - j;
  return mix(mix(cell(i * n + j), cell(i * n + j + 1), part),
      mix(cell((i + 1) * n + j), cell((i + 1) * n + j + 1), part), places[0] - i);
}
