/** The robot in three.js: a group for each body, nested as the bodies are. */
import * as THREE from 'three';
import {Forces} from './forces';
import {Frames} from '../frames';
import {Paint} from './paint';
import {Scenery} from './scenery';
import {loadMesh, shapeMesh, type MeshSource} from './shapes';
import {addAxes, addInertia, addSkeleton, isRotor, place, Rods, type Layer, type Parts} from './skeleton';
import type {Link, Reactions, Scene, Seven, Shape, Strength} from '../types';
import {View} from './view';

export interface Picked {body: number; link: number; point: THREE.Vector3}

/** Whether most shapes only stand for inertia, have no colour of their own, and gears or loops are inside. */
function hidesLoops(scene: Scene): boolean {
  const shapes = scene.links.flatMap((l) => l.visuals.length > 0 ? l.visuals : l.collisions);
  const plain = shapes.filter((s) => !s.color && s.kind !== 'mesh');
  return scene.clusters.some((c) => c.constrained) && 2 * plain.length > shapes.length;
}

export class Robot implements Parts {
  readonly layers: Record<Layer, boolean>;
  /** Resolves when all meshes are there. */
  readonly ready: Promise<void>;
  readonly size: number;
  readonly hasShapes: boolean;
  readonly groups: THREE.Group[] = [];
  readonly paint: Paint;
  readonly forces: Forces;
  seeThrough: boolean;
  private readonly world = new THREE.Scene();
  private readonly drawing = new Frames(this.world, () => this.settle(), (on) => this.scenery?.castShadows(on));
  private readonly layered = new Map<Layer, THREE.Object3D[]>();
  private readonly drawn = new Set<number>();  // links
  private readonly loading: Promise<void>[] = [];
  private readonly view: View;
  private readonly scenery: Scenery;
  private readonly rods: Rods;
  private readonly band: THREE.Line;
  private moved = true;  // since matrices in the world were computed
  private readonly resizing = new ResizeObserver(() => this.resize());

  constructor(readonly container: HTMLElement, readonly scene: Scene, pose: number[], source: MeshSource) {
    container.prepend(this.canvas);
    this.world.matrixWorldAutoUpdate = false;  // settle() does
    this.paint = new Paint(scene);
    this.hasShapes = scene.links.some((l) => l.visuals.length + l.collisions.length > 0);
    this.seeThrough = hidesLoops(scene);
    this.layers = {
      shapes: true, skeleton: !this.hasShapes || this.seeThrough, inertia: !this.hasShapes, axes: true, frames: false,
      centres: false, rotors: true,
    };
    for (const body of scene.bodies) {
      const group = new THREE.Group();
      (body.parent < 0 ? this.world : this.groups[body.parent]).add(group);
      this.groups.push(group);
    }
    this.setPose(pose);
    const box = this.bounds();
    this.size = Math.max(0.05, box.getSize(new THREE.Vector3()).length());
    this.build(source);
    this.rods = new Rods(this, this.world, (loop) => this.ends(loop));
    this.scenery = new Scenery(this.world, box, this.size);
    this.view = new View(this.canvas, this.size, () => this.draw());
    this.band = new THREE.Line(
        new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), new THREE.Vector3()]),
        new THREE.LineBasicMaterial({color: 0xffc857, depthTest: false}));
    this.band.visible = false;
    this.band.frustumCulled = false;
    this.world.add(this.band);
    this.forces = new Forces(this.size, (body, p, direction) => {
      this.settle();
      const out = new THREE.Vector3().fromArray(p);
      return direction ? out.transformDirection(this.groups[body].matrixWorld) : out.applyMatrix4(this.groups[body].matrixWorld);
    });
    this.world.add(this.forces.group);
    this.moved = true;
    this.ready = Promise.all(this.loading).then(() => this.draw());
    this.look(38, 16, 1.45);
    this.setSeeThrough(this.seeThrough);
    this.applyLayers();
    this.resizing.observe(container);
    this.resize();
    this.drawing.start(this.view.camera);
  }

  get canvas() { return this.drawing.canvas; }
  get controls() { return this.view.controls; }
  /** How many frames were drawn. */
  get frames() { return this.drawing.drawn; }
  draw() { this.drawing.ask(); }

  /** @param bodies  seven numbers a body, in its parent */
  setPose(bodies: number[]) {
    for (let i = 0; i < this.groups.length; ++i) place(this.groups[i], bodies, 7 * i);
    this.moved = true;
    this.draw();
  }
  /** Moves some bodies. */
  setBodies(bodies: {body: number}[], at: Seven[]) {
    bodies.forEach(({body}, i) => place(this.groups[body], at[i]));
    this.moved = true;
    this.draw();
  }
  /** After bodies moved, before anything is asked of where they are: many poses may come between two frames. */
  private settle() {
    if (!this.moved) return;
    this.moved = false;
    this.world.updateMatrixWorld(true);
    this.rods?.stretch();
  }

  /** Seen from angles in degrees, at a distance in sizes of the robot. */
  look(azimuth: number, elevation: number, distance: number) {
    this.view.look(this.bounds().getCenter(new THREE.Vector3()), azimuth, elevation, distance);
  }
  /** Looks from the same side at all that is drawn, and at what stands beside. */
  fit(beside?: Robot) {
    this.resize();  // a pane that is new or has a neighbour has another shape than the last frame
    const box = this.bounds();
    if (this.forces.group.children.length > 0) box.expandByObject(this.forces.group);
    if (beside) box.union(beside.bounds());
    this.view.fit(box);
  }
  /** Whether the middle of each body is on the screen. */
  get inView(): boolean { return this.view.contains(this.middles()); }
  /** Goes along with a robot that leaves the view. */
  follow() {
    if (this.inView) return;
    this.view.follow(new THREE.Box3().setFromPoints(this.middles()).getCenter(new THREE.Vector3()));
  }
  lookAs(other: Robot) { this.view.lookAs(other.view); }

  /** Where the ends of a loop are in the world: they meet where the loop is closed by a pin. */
  loopEnds(loop: number): number[][] {
    this.settle();
    return this.ends(loop).map((p) => p.toArray());
  }
  bodyPosition(body: number): number[] { return this.at(body).toArray(); }
  /** A point of a body on the screen [pixels]. */
  onScreen(body: number, point: number[] = [0, 0, 0]): number[] { return this.view.onScreen(this.at(body, point)); }

  setLayer(layer: Layer, on: boolean) {
    this.layers[layer] = on;
    this.applyLayers();
  }
  setColors(clusters: boolean) {
    this.paint.setColors(clusters);
    this.draw();
  }
  get hasColors() { return this.paint.hasColors; }
  setSeeThrough(on: boolean) {
    this.seeThrough = on;
    this.paint.setSeeThrough(on);
    this.draw();
  }
  isRotor(body: number) { return isRotor(this.scene, body); }
  /** Lets bodies glow. */
  highlight(bodies: Set<number>) {
    for (const object of [...this.layered.values()].flat()) {
      object.traverse((part) => {
        const material = (part as THREE.Mesh).material;
        if (part.userData.body === undefined || !(material instanceof THREE.MeshStandardMaterial)) return;
        material.emissive.set(bodies.has(part.userData.body) ? 0xffb347 : 0x000000);
        material.emissiveIntensity = 0.55;
      });
    }
    this.draw();
  }

  pick(event: {clientX: number; clientY: number}): Picked | null {
    this.settle();
    const hit = this.view.ray(event).intersectObjects(this.world.children, true)
        .find((h) => h.object.userData.body !== undefined && this.visible(h.object));
    if (!hit) return null;
    return {body: hit.object.userData.body, link: hit.object.userData.link, point: hit.point};
  }
  inPlane(event: {clientX: number; clientY: number}, through: THREE.Vector3) { return this.view.inPlane(event, through); }
  toLink(link: number, point: THREE.Vector3): THREE.Vector3 {
    return point.clone().applyMatrix4(this.linkMatrix(link).invert());
  }
  fromLink(link: number, point: THREE.Vector3): THREE.Vector3 {
    return point.clone().applyMatrix4(this.linkMatrix(link));
  }
  rubber(from: THREE.Vector3 | null, to?: THREE.Vector3) {
    this.band.visible = from !== null;
    if (from && to) this.band.geometry.setFromPoints([from, to]);
    this.draw();
  }
  statistics() {
    const {calls, triangles} = this.drawing.statistics;
    return {links: this.drawn.size, bodies: this.groups.length - 1, joints: this.scene.joints.length, calls, triangles};
  }
  showForces(reactions?: Reactions, strength?: Strength) {
    if (!reactions && !strength && this.forces.group.children.length === 0) return;
    this.forces.show(reactions, strength);
    this.draw();
  }
  dispose() {
    this.resizing.disconnect();
    this.view.dispose();
    this.drawing.dispose();
  }

  /** Edges that stand for something round: fewer where no GPU draws them. */
  steps(fine: number) { return this.drawing.smooth ? fine : Math.max(4, Math.round(0.55 * fine)); }
  add(layer: Layer, body: number, object: THREE.Object3D, link = -1, pickable = true) {
    if (link >= 0 && pickable) this.drawn.add(link);
    object.traverse((o) => {
      o.updateMatrix();
      o.matrixAutoUpdate = false;  // it stays where it is on its body
      if (!pickable) return;
      o.userData.body = body;
      o.userData.link = link >= 0 ? link : this.scene.links.findIndex((l) => l.body === body);
      if (o instanceof THREE.Mesh) o.castShadow = this.casts(o);
    });
    const list = this.layered.get(layer) ?? [];
    list.push(object);
    this.layered.set(layer, list);
    this.groups[body].add(object);
  }

  private casts(mesh: THREE.Mesh) {
    return !(mesh.material as THREE.Material).transparent && !(mesh.geometry instanceof THREE.PlaneGeometry);
  }
  private applyLayers() {
    for (const [layer, objects] of this.layered) {
      for (const o of objects) o.visible = this.layers[layer];
    }
    this.rods.show(this.layers.shapes || this.layers.skeleton);
    this.draw();
  }
  private build(source: MeshSource) {
    this.scene.links.forEach((link, i) => {
      const shapes = link.visuals.length > 0 ? link.visuals : link.collisions;
      for (const shape of shapes) this.addShape(link, i, shape, source);
      addInertia(this, link, i);
    });
    addSkeleton(this, this.hasShapes);
    addAxes(this);
  }
  private addShape(link: Link, i: number, shape: Shape, source: MeshSource) {
    const material = this.paint.material(this.scene.bodies[link.body].cluster, shape.color, shape.color?.[3] ?? 1, true);
    // Faces of neighbouring bodies often lie in one plane: one of them wins, always the same.
    Object.assign(material, {polygonOffset: true, polygonOffsetFactor: link.body % 5, polygonOffsetUnits: 2 * (link.body % 5)});
    const holder = new THREE.Group();
    holder.userData.shape = true;
    place(holder, shape.at);
    const mesh = shapeMesh(shape, material, this.size, (fine) => this.steps(fine));
    if (mesh) holder.add(mesh);
    this.add('shapes', link.body, holder, i);
    if (shape.kind !== 'mesh' || shape.mesh === undefined) return;
    this.loading.push(loadMesh(shape, material, source).then((object) => {
      if (!object) return;
      holder.add(object);
      object.traverse((o) => {
        Object.assign(o.userData, {body: link.body, link: i});
        o.castShadow = true;
      });
      this.moved = true;
      this.draw();
    }));
  }

  /** A point of a body in the world. */
  private at(body: number, point: number[] = [0, 0, 0]): THREE.Vector3 {
    this.settle();
    return new THREE.Vector3().fromArray(point).applyMatrix4(this.groups[body].matrixWorld);
  }
  private ends(loop: number): THREE.Vector3[] {
    return this.scene.loops[loop].ends.map((end) =>
      new THREE.Vector3().fromArray(end.point).applyMatrix4(this.groups[end.body].matrixWorld));
  }
  /** Of bodies that move: the ground stays behind. */
  private middles() { return this.groups.slice(1).map((_, i) => this.at(i + 1)); }
  private linkMatrix(link: number): THREE.Matrix4 {
    this.settle();
    const l = this.scene.links[link];
    const own = new THREE.Object3D();
    place(own, l.at);
    own.updateMatrix();
    return this.groups[l.body].matrixWorld.clone().multiply(own.matrix);
  }
  private visible(object: THREE.Object3D | null): boolean {
    for (let o = object; o; o = o.parent) if (!o.visible) return false;
    return true;
  }
  private bounds(): THREE.Box3 {
    this.settle();
    const box = new THREE.Box3(), p = new THREE.Vector3(), r = new THREE.Vector3();
    this.groups.forEach((_, body) => box.expandByPoint(this.at(body)));
    for (const link of this.scene.links) {
      if (!link.inertia) continue;
      const {at, radii} = link.inertia, turn = new THREE.Quaternion().fromArray(at, 3);
      for (let k = 0; k < 6; ++k) {  // the tips of the ellipsoid
        p.set(0, 0, 0).setComponent(k % 3, k < 3 ? radii[k % 3] : -radii[k % 3]);
        p.applyQuaternion(turn).add(r.fromArray(at));
        box.expandByPoint(p.applyMatrix4(this.groups[link.body].matrixWorld));
      }
    }
    this.scene.loops.forEach((_, loop) => { for (const end of this.ends(loop)) box.expandByPoint(end); });
    for (const group of this.groups) {
      for (const child of group.children) if (child.userData.shape) box.expandByObject(child);
    }
    return box;
  }
  private resize() {
    const {clientWidth: w, clientHeight: h} = this.container;
    if (w === 0 || h === 0) return;
    this.drawing.resize(w, h);
    this.view.resize(w, h);
  }
}
