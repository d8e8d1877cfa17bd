/** Reactions as arrows, bars in the colours of tension and compression, forces that motors can give. */
import * as THREE from 'three';
import {ConvexGeometry} from 'three/examples/jsm/geometries/ConvexGeometry.js';
import type {Reactions, Strength} from '../types';

const colors = {determined: 0xffc857, unknown: 0x9aa7b8, tension: 0x4aa8ff, compression: 0xff5a5f, strength: 0x7ddf9b};
const up = new THREE.Vector3(0, 1, 0);

/** Drawn over the robot, which would hide what is inside its links. */
function over(color: number, opacity = 1) {
  return new THREE.MeshBasicMaterial({color, transparent: true, opacity, depthTest: false, depthWrite: false,
    side: THREE.DoubleSide});
}

export class Forces {
  readonly group = new THREE.Group();
  /** What is drawn, for tests: arrows, bars, corners. */
  counts = {arrows: 0, bars: 0, corners: 0};
  largest = 0;  // force that has the longest arrow [N]
  private readonly shaft = new THREE.CylinderGeometry(1, 1, 1, 12);
  private readonly tip = new THREE.ConeGeometry(1, 1, 16);
  private readonly materials = new Map<number, THREE.Material>();
  private readonly hull = over(colors.strength, 0.3);
  private readonly edges = new THREE.LineBasicMaterial({color: colors.strength, depthTest: false, transparent: true});

  /** @param size  of the robot @param toWorld  a point of a body, or a direction on it */
  constructor(private readonly size: number,
      private readonly toWorld: (body: number, p: number[], direction: boolean) => THREE.Vector3) {}

  show(reactions?: Reactions, strength?: Strength) {
    for (const child of this.group.children) {
      if (child.userData.own) (child as THREE.Mesh).geometry.dispose();
    }
    this.group.clear();
    this.counts = {arrows: 0, bars: 0, corners: 0};
    if (reactions) this.addReactions(reactions);
    if (strength) this.addStrength(strength);
    this.group.traverse((o) => { o.renderOrder = 10; });
    this.group.updateMatrixWorld(true);
  }

  private addReactions(reactions: Reactions) {
    const forces = reactions.joints.map((j) => Math.hypot(...j.force));
    // The scale follows slowly, so that arrows do not all shrink while one grows for a moment.
    this.largest = Math.max(0.97 * this.largest, ...forces, 1e-9);
    reactions.joints.forEach((joint, i) => {
      const length = 0.24 * this.size * forces[i] / this.largest;
      if (length < 0.004 * this.size) return;
      const from = this.toWorld(joint.body, joint.at, false);
      const along = this.toWorld(joint.body, joint.force, true).normalize();
      this.arrow(from, along, length, joint.determined ? colors.determined : colors.unknown);
    });
    const pulls = reactions.rods.map((rod) => Math.abs(rod.tension));
    const most = Math.max(...pulls, 1e-9);
    reactions.rods.forEach((rod, i) => {
      const width = (0.004 + 0.006 * pulls[i] / most) * this.size;
      this.rod(this.toWorld(rod.body, rod.from, false), this.toWorld(rod.body, rod.to, false), width,
          rod.tension >= 0 ? colors.tension : colors.compression);
      ++this.counts.bars;
    });
  }
  private addStrength(strength: Strength) {
    const points = strength.points.map((p) => new THREE.Vector3().fromArray(p));
    this.counts.corners = points.length;
    if (points.length < 2) return;
    const most = Math.max(...points.map((p) => p.length()));
    const at = this.toWorld(strength.body, strength.at, false);
    for (const p of points) p.multiplyScalar(0.3 * this.size / most).add(at);
    if (strength.rank === 1) {
      this.rod(points[0], points[1], 0.004 * this.size, colors.strength);
      return;
    }
    const geometry = strength.rank === 2 ? polygon(points, at) : new ConvexGeometry(points);
    const mesh = new THREE.Mesh(geometry, this.hull);
    const lines = new THREE.LineSegments(new THREE.EdgesGeometry(geometry, 5), this.edges);
    mesh.userData.own = lines.userData.own = true;
    this.group.add(mesh, lines);
  }
  private arrow(from: THREE.Vector3, along: THREE.Vector3, length: number, color: number) {
    const width = 0.0035 * this.size, head = Math.min(0.4 * length, 0.03 * this.size);
    this.rod(from, from.clone().addScaledVector(along, length - head), width, color);
    const tip = new THREE.Mesh(this.tip, this.material(color));
    tip.scale.set(2.6 * width, head, 2.6 * width);
    tip.quaternion.setFromUnitVectors(up, along);
    tip.position.copy(from).addScaledVector(along, length - 0.5 * head);
    this.group.add(tip);
    ++this.counts.arrows;
  }
  private rod(from: THREE.Vector3, to: THREE.Vector3, width: number, color: number) {
    const mesh = new THREE.Mesh(this.shaft, this.material(color));
    const length = from.distanceTo(to);
    if (length < 1e-9) return;
    mesh.scale.set(width, length, width);
    mesh.quaternion.setFromUnitVectors(up, to.clone().sub(from).normalize());
    mesh.position.copy(from).add(to).multiplyScalar(0.5);
    this.group.add(mesh);
  }
  private material(color: number) {
    let found = this.materials.get(color);
    if (!found) this.materials.set(color, found = over(color, 0.9));
    return found;
  }
}

/** A polygon of points in one plane around their centre. */
function polygon(points: THREE.Vector3[], centre: THREE.Vector3) {
  const x = points[0].clone().sub(centre).normalize();
  let normal = new THREE.Vector3();
  for (const p of points) {
    const n = x.clone().cross(p.clone().sub(centre));
    if (n.length() > normal.length()) normal = n;
  }
  const y = normal.normalize().clone().cross(x);
  const angle = (p: THREE.Vector3) => Math.atan2(p.clone().sub(centre).dot(y), p.clone().sub(centre).dot(x));
  const ring = points.slice().sort((a, b) => angle(a) - angle(b));
  const corners: THREE.Vector3[] = [];
  ring.forEach((p, i) => corners.push(centre, p, ring[(i + 1) % ring.length]));
  return new THREE.BufferGeometry().setFromPoints(corners);
}
