/** What is drawn of a robot beside its shapes: bars between joints, rotors, ellipsoids of inertia, axes, frames. */
import * as THREE from 'three';
import {metal, type Paint} from './paint';
import type {Link, Scene, Seven} from '../types';

export type Layer = 'shapes' | 'skeleton' | 'inertia' | 'axes' | 'frames' | 'centres' | 'rotors';

/** Where parts of a robot are put. */
export interface Parts {
  readonly scene: Scene;
  readonly size: number;
  readonly paint: Paint;
  readonly groups: THREE.Group[];  // one for each body
  /** Edges that stand for something round. */
  steps(fine: number): number;
  /** Puts an object on a body. */
  add(layer: Layer, body: number, object: THREE.Object3D, link?: number, pickable?: boolean): void;
}

export function place(object: THREE.Object3D, at: Seven | number[], from = 0) {
  object.position.set(at[from], at[from + 1], at[from + 2]);
  object.quaternion.set(at[from + 3], at[from + 4], at[from + 5], at[from + 6]);
}
/** Folded rotors, and bodies behind gears that carry nothing. */
export function isRotor(s: Scene, body: number): boolean {
  if (s.bodies[body].rotor) return true;
  return /rotor|motor/i.test(s.bodies[body].name) && !s.bodies.some((b) => b.parent === body) &&
      s.clusters[s.bodies[body].cluster]?.constrained === true;
}
const thin = (parts: Parts) => 0.008 * parts.size;
const vector = (numbers: number[]) => new THREE.Vector3().fromArray(numbers);

function bar(parts: Parts, from: THREE.Vector3, to: THREE.Vector3, radius: number, material: THREE.Material) {
  const length = from.distanceTo(to);
  const mesh = new THREE.Mesh(
      new THREE.CapsuleGeometry(radius, Math.max(length, 1e-9), parts.steps(6), parts.steps(16)), material);
  mesh.position.copy(from).add(to).multiplyScalar(0.5);
  mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), to.clone().sub(from).normalize());
  return mesh;
}
/** The joints and ends of loops that a body carries, in its frame. */
function carried(s: Scene, body: number): THREE.Vector3[] {
  const out = s.bodies.filter((child, i) => child.parent === body && !isRotor(s, i)).map((child) => vector(child.placement));
  for (const loop of s.loops) {
    for (const end of loop.ends) if (end.body === body) out.push(vector(end.point));
  }
  return out;
}

/** Bars from a body's joint to those that hang on it and to the ends of loops. */
function addBars(parts: Parts, body: number, link: number) {
  const s = parts.scene, w = thin(parts), ends = carried(s, body);
  const heaviest = s.links.filter((l) => l.body === body && l.inertia).sort((a, b) => b.mass - a.mass)[0];
  if (ends.every((e) => e.length() < 0.005 * parts.size) && heaviest?.inertia && body !== 0) {
    // A last body has no joint beyond: the bar goes through its centre of mass.
    ends.push(vector(heaviest.inertia.at).multiplyScalar(1.6));
  }
  const material = parts.paint.material(s.bodies[body].cluster);
  for (const end of ends) {
    if (end.length() < 0.004 * parts.size) continue;
    parts.add('skeleton', body, bar(parts, new THREE.Vector3(), end, body === 0 ? 0.6 * w : w, material), link);
  }
  if (body === 0) return;
  const joint = s.joints[s.bodies[body].joint];
  const knob = new THREE.Mesh(
      joint && joint.unit !== 'rad' ? new THREE.BoxGeometry(3.4 * w, 3.4 * w, 3.4 * w) :
        new THREE.CylinderGeometry(1.7 * w, 1.7 * w, 3.6 * w, parts.steps(24)),
      joint && !joint.independent ? metal(0x4f8fd0) : metal(0xf0b740));
  knob.rotation.x = Math.PI / 2;
  parts.add('skeleton', body, knob, link);
}
/** A disc with a notch, so that its turning is seen. */
function addRotor(parts: Parts, body: number, link: number) {
  const w = thin(parts), group = new THREE.Group();
  const ring = new THREE.Mesh(new THREE.TorusGeometry(3.2 * w, 0.55 * w, parts.steps(12), parts.steps(40)),
      parts.paint.material(parts.scene.bodies[body].cluster));
  const spoke = new THREE.Mesh(new THREE.BoxGeometry(6.2 * w, 0.7 * w, 0.7 * w), metal(0x2a2f38));
  const mark = new THREE.Mesh(new THREE.SphereGeometry(0.8 * w, parts.steps(14), parts.steps(10)), metal(0xffffff));
  mark.position.x = 3.2 * w;
  group.add(ring, spoke, mark);
  parts.add('rotors', body, group, link);
}
/** Bars to joints that a body's shapes leave in the air, as solids that stand for inertia do. */
function addBridges(parts: Parts, body: number) {
  const s = parts.scene;
  if (body === 0 || isRotor(s, body)) return;
  if (s.links.some((l) => l.body === body && [...l.visuals, ...l.collisions].some((v) => v.kind === 'mesh'))) return;
  const box = new THREE.Box3(), inside = parts.groups[body].matrixWorld.clone().invert();
  for (const shape of parts.groups[body].children.filter((c) => c.userData.shape)) {
    shape.updateMatrixWorld(true);
    shape.traverse((o) => {
      if (!(o instanceof THREE.Mesh)) return;
      o.geometry.computeBoundingBox();
      box.union(o.geometry.boundingBox!.clone().applyMatrix4(inside.clone().multiply(o.matrixWorld)));
    });
  }
  const link = s.links.findIndex((l) => l.body === body);
  const material = parts.paint.material(s.bodies[body].cluster, undefined, 1, true);
  for (const end of [new THREE.Vector3(), ...carried(s, body)]) {
    // From the nearest point of what is drawn, or else from the body's own joint.
    const from = box.isEmpty() ? new THREE.Vector3() : box.clampPoint(end, new THREE.Vector3());
    if (from.distanceTo(end) < 0.02 * parts.size) continue;
    const start = box.isEmpty() ? from : from.lerp(box.getCenter(new THREE.Vector3()), 0.5);
    parts.add('shapes', body, bar(parts, start, end, 1.3 * thin(parts), material), link);
  }
}
/** @param hasShapes  whether the robot's file draws anything */
export function addSkeleton(parts: Parts, hasShapes: boolean) {
  const s = parts.scene;
  s.bodies.forEach((_, body) => {
    const link = s.links.findIndex((l) => l.body === body);
    if (isRotor(s, body)) addRotor(parts, body, link);
    else addBars(parts, body, link);
  });
  if (hasShapes) s.bodies.forEach((_, body) => addBridges(parts, body));
  for (const loop of s.loops) {
    for (const end of loop.ends) {
      const pin = new THREE.Mesh(new THREE.SphereGeometry(1.5 * thin(parts), parts.steps(20), parts.steps(14)), metal(0xf4f6fa));
      pin.position.fromArray(end.point);
      parts.add('skeleton', end.body, pin);
    }
  }
}

/** The ellipsoid and the centre of mass of a link. */
export function addInertia(parts: Parts, link: Link, i: number) {
  if (!link.inertia) return;
  const least = 0.003 * parts.size;
  const cluster = parts.scene.bodies[link.body].cluster;
  if (!isRotor(parts.scene, link.body)) {
    const mesh = new THREE.Mesh(new THREE.SphereGeometry(1, parts.steps(40), parts.steps(28)),
        parts.paint.material(cluster, undefined, 0.32));
    mesh.scale.set(...(link.inertia.radii.map((r) => Math.max(r, least)) as [number, number, number]));
    const holder = new THREE.Group();
    place(holder, link.inertia.at);
    holder.add(mesh);
    parts.add('inertia', link.body, holder, i);
  }
  const dot = new THREE.Mesh(new THREE.SphereGeometry(0.012 * parts.size, 16, 12),
      new THREE.MeshBasicMaterial({color: 0xff5d73, depthTest: false, transparent: true}));
  dot.position.fromArray(link.inertia.at);
  parts.add('centres', link.body, dot, -1, false);
}

function axisOf(parts: Parts, reach: number, color: number, dash: boolean) {
  const geometry = new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(0, 0, -reach), new THREE.Vector3(0, 0, reach)]);
  const size = 0.008 * parts.size;
  const line = new THREE.Line(geometry, dash ?
    new THREE.LineDashedMaterial({color, dashSize: size, gapSize: size}) :
    new THREE.LineBasicMaterial({color}));
  return line.computeLineDistances();
}
/** Axes of joints, frames of links and of what is fixed to them. */
export function addAxes(parts: Parts) {
  const s = parts.scene, reach = 0.07 * parts.size;
  for (const joint of s.joints) {
    if (joint.unit === '') continue;
    const color = joint.independent ? 0xffc857 : 0x6fb7ff;
    parts.add('axes', joint.body, axisOf(parts, reach, color, !joint.independent), -1, false);
    if (s.bodies[joint.body].rotor) continue;
    const head = new THREE.Mesh(new THREE.ConeGeometry(0.09 * reach, 0.28 * reach, 12),
        new THREE.MeshBasicMaterial({color}));
    head.rotation.x = Math.PI / 2;
    head.position.z = reach;
    parts.add('axes', joint.body, head, -1, false);
  }
  for (const [frames, length] of [[s.frames, 0.05], [s.links, 0.04]] as const) {
    for (const frame of frames) {
      const axes = new THREE.AxesHelper(length * parts.size);
      place(axes, frame.at);
      parts.add('frames', frame.body, axes, -1, false);
    }
  }
}

/** Rods between the two ends of loops, which lie on different bodies and have no shape in any file. */
export class Rods {
  private readonly rods: {mesh: THREE.Mesh; loop: number}[] = [];
  /** @param ends  where a loop's ends are in the world */
  constructor(parts: Parts, world: THREE.Object3D, private readonly ends: (loop: number) => THREE.Vector3[]) {
    parts.scene.loops.forEach((loop, i) => {
      if (loop.ends.length !== 2) return;
      const w = 0.7 * thin(parts);
      const mesh = new THREE.Mesh(new THREE.CylinderGeometry(w, w, 1, parts.steps(16)), metal(0xdfe5ee));
      mesh.castShadow = true;
      this.rods.push({mesh, loop: i});
      world.add(mesh);
    });
  }
  /** After bodies moved. */
  stretch() {
    for (const {mesh, loop} of this.rods) {
      const [a, b] = this.ends(loop);
      const length = a.distanceTo(b);
      mesh.scale.set(1, Math.max(length, 1e-9), 1);
      mesh.position.copy(a).add(b).multiplyScalar(0.5);
      if (length > 1e-9) mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), b.sub(a).normalize());
      mesh.updateMatrixWorld();
    }
  }
  show(on: boolean) { for (const {mesh} of this.rods) mesh.visible = on; }
}
