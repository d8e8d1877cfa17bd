/** The robot in three.js: a group for each body, nested as the bodies are. */
import * as THREE from 'three';
import {OrbitControls} from 'three/examples/jsm/controls/OrbitControls.js';
import {STLLoader} from 'three/examples/jsm/loaders/STLLoader.js';
import {OBJLoader} from 'three/examples/jsm/loaders/OBJLoader.js';
import {ColladaLoader} from 'three/examples/jsm/loaders/ColladaLoader.js';
import {Forces} from './forces';
import {Pace, smooth} from './pace';
import type {Link, Reactions, Scene, Seven, Shape, Strength} from './types';

export interface Picked {body: number; link: number; point: THREE.Vector3}
export type Layer = 'shapes' | 'skeleton' | 'inertia' | 'axes' | 'frames' | 'centres' | 'rotors';
export type MeshSource = (number: number) => Promise<ArrayBuffer | null>;

const ground = 0x8b95a5;

function place(object: THREE.Object3D, at: Seven, from = 0) {
  object.position.set(at[from], at[from + 1], at[from + 2]);
  object.quaternion.set(at[from + 3], at[from + 4], at[from + 5], at[from + 6]);
}

/** Clusters that are tied have strong colours, plain bodies pale ones. */
export function clusterColor(scene: Scene, cluster: number): THREE.Color {
  if (cluster < 0) return new THREE.Color(ground);
  const tied = scene.clusters[cluster].constrained;
  let rank = 0;
  for (let i = 0; i < cluster; ++i) rank += scene.clusters[i].constrained === tied ? 1 : 0;
  // The golden angle sets neighbours far apart.
  const hue = (tied ? 0.58 + rank * 0.381966 : 0.6 + rank * 0.381966) % 1;
  return new THREE.Color().setHSL(hue, tied ? 0.72 : 0.16, tied ? 0.56 : 0.66);
}

export class Robot {
  readonly canvas: HTMLCanvasElement;
  readonly layers: Record<Layer, boolean>;
  /** Resolves when all meshes are there. */
  readonly ready: Promise<void>;
  readonly size: number;
  links = 0;  // drawn
  private readonly renderer: THREE.WebGLRenderer;
  private readonly smooth = smooth();
  private readonly world = new THREE.Scene();
  private readonly camera = new THREE.PerspectiveCamera(38, 1, 0.001, 500);
  readonly controls: OrbitControls;
  private readonly groups: THREE.Group[] = [];
  private readonly layered = new Map<Layer, THREE.Object3D[]>();
  private readonly tinted: {material: THREE.MeshStandardMaterial; cluster: number; own?: THREE.Color; opacity: number;
    shape: boolean}[] = [];
  private readonly rods: {mesh: THREE.Mesh; loop: number}[] = [];
  private readonly band: THREE.Line;
  private readonly drawn = new Set<number>();
  readonly hasShapes: boolean;
  seeThrough: boolean;
  readonly forces: Forces;
  private readonly pace: Pace;
  private sun?: THREE.DirectionalLight;
  private floor?: THREE.Mesh;  // on which shadows fall
  private needed = true;
  private moving = false;
  private drawnAt = 0;
  private askedAt = 0;
  private gone = false;
  private readonly resizing = new ResizeObserver(() => this.resize());

  constructor(readonly container: HTMLElement, readonly scene: Scene, pose: number[], source: MeshSource) {
    this.renderer = new THREE.WebGLRenderer({antialias: this.smooth, preserveDrawingBuffer: true});
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.renderer.toneMapping = THREE.ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 1.1;
    this.pace = new Pace(this.renderer, (on) => this.castShadows(on));
    this.canvas = this.renderer.domElement;
    container.prepend(this.canvas);
    this.hasShapes = scene.links.some((l) => l.visuals.length + l.collisions.length > 0);
    this.seeThrough = this.hidesLoops();
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
    this.ready = Promise.all(this.loading).then(() => this.draw());
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.camera.up.set(0, 0, 1);
    this.light(box);
    this.look(38, 16, 1.45);
    this.controls.addEventListener('change', () => this.draw());
    this.band = new THREE.Line(
        new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), new THREE.Vector3()]),
        new THREE.LineBasicMaterial({color: 0xffc857, depthTest: false}));
    this.band.visible = false;
    this.band.frustumCulled = false;
    this.world.add(this.band);
    this.setSeeThrough(this.seeThrough);
    this.applyLayers();
    this.forces = new Forces(this.size, (body, p, direction) => {
      const out = new THREE.Vector3().fromArray(p);
      return direction ? out.transformDirection(this.groups[body].matrixWorld) : this.groups[body].localToWorld(out);
    });
    this.world.add(this.forces.group);
    this.resizing.observe(container);
    this.resize();
    const loop = (now: number) => {
      if (this.gone) return;
      requestAnimationFrame(loop);
      if (!this.needed) {
        this.moving = false;
        // Finely when nothing has asked for a frame for a while: the canvas changes its size, which takes its time.
        if (this.pace.isDraft && performance.now() - this.askedAt > 400) this.render(now, false);
        return;
      }
      // What stood still may have stood for long.
      if (this.moving) this.pace.take(now - this.drawnAt);
      this.moving = true;
      this.needed = false;
      this.render(now, !this.picture);
    };
    this.started = true;
    loop(performance.now());  // at once: pictures are taken of the first frame
  }

  /** A picture is taken at any time: then nothing waits for a frame, and none is coarse. */
  private readonly picture = location.hash.startsWith('#picture');
  private started = false;
  draw() {
    this.needed = true;
    this.askedAt = performance.now();
    if (this.picture && this.started) this.render(performance.now(), false);
  }
  frames = 0;  // drawn
  private render(now: number, moves: boolean) {
    this.pace.apply(moves);
    this.drawnAt = now;
    ++this.frames;
    this.renderer.render(this.world, this.camera);
  }

  /** @param bodies  seven numbers a body, in its parent */
  setPose(bodies: number[]) {
    for (let i = 0; i < this.groups.length; ++i) place(this.groups[i], bodies, 7 * i);
    this.settle();
  }
  setBody(body: number, at: Seven) { place(this.groups[body], at); }
  /** After bodies moved. */
  settle() {
    this.world.updateMatrixWorld(true);
    for (const rod of this.rods) this.stretch(rod);
    this.draw();
  }

  /** Seen from angles in degrees, at a distance in sizes of the robot. */
  look(azimuth: number, elevation: number, distance: number) {
    const a = azimuth * Math.PI / 180, e = elevation * Math.PI / 180;
    const target = this.bounds().getCenter(new THREE.Vector3());
    this.camera.position.set(Math.cos(a) * Math.cos(e), Math.sin(a) * Math.cos(e), Math.sin(e))
        .multiplyScalar(distance * this.size).add(target);
    this.camera.near = this.size / 200;
    this.camera.far = this.size * 60;
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(target);
    this.controls.update();
    this.draw();
  }

  /** Looks from the same side at all that is drawn, and at what stands beside. */
  fit(beside?: Robot) {
    this.resize();  // a pane that is new or has a neighbour has another shape than the last frame
    const box = this.bounds();
    if (this.forces.group.children.length > 0) box.expandByObject(this.forces.group);
    if (beside) box.union(beside.bounds());
    const ball = box.getBoundingSphere(new THREE.Sphere());
    const half = this.camera.fov * Math.PI / 360;
    const narrow = Math.atan(Math.tan(half) * Math.min(1, this.camera.aspect));
    const back = this.camera.position.clone().sub(this.controls.target).normalize();
    this.camera.position.copy(ball.center).addScaledVector(back, Math.max(ball.radius, 0.02) / Math.sin(narrow));
    this.controls.target.copy(ball.center);
    this.controls.update();
    this.draw();
  }
  /** Whether the middle of each body is on the screen. */
  get inView(): boolean {
    this.camera.updateMatrixWorld();
    const p = new THREE.Vector3();
    return this.groups.every((group, i) => {
      if (i === 0) return true;
      group.getWorldPosition(p).project(this.camera);
      return Math.abs(p.x) < 1 && Math.abs(p.y) < 1;
    });
  }
  /** Goes along with a robot that leaves the view. */
  follow() {
    if (this.inView) return;
    const box = new THREE.Box3();  // of what moves: the ground stays behind
    this.groups.forEach((group, i) => { if (i > 0) box.expandByPoint(group.getWorldPosition(new THREE.Vector3())); });
    const way = box.getCenter(new THREE.Vector3()).sub(this.controls.target);
    this.camera.position.add(way);
    this.controls.target.add(way);
    this.controls.update();
  }

  /** Where the ends of a loop are in the world: they meet where the loop is closed by a pin. */
  loopEnds(loop: number): number[][] {
    return this.scene.loops[loop].ends.map((end) => this.groups[end.body]
        .localToWorld(new THREE.Vector3().fromArray(end.point)).toArray());
  }
  bodyPosition(body: number): number[] {
    return this.groups[body].getWorldPosition(new THREE.Vector3()).toArray();
  }
  /** A point of a body on the screen [pixels]. */
  onScreen(body: number, point: number[] = [0, 0, 0]): number[] {
    const p = this.groups[body].localToWorld(new THREE.Vector3().fromArray(point)).project(this.camera);
    const r = this.canvas.getBoundingClientRect();
    return [r.left + (p.x + 1) / 2 * r.width, r.top + (1 - p.y) / 2 * r.height];
  }

  setLayer(layer: Layer, on: boolean) {
    this.layers[layer] = on;
    this.applyLayers();
  }
  /** Clusters in colours, or the colours of the file. */
  setColors(clusters: boolean) {
    for (const t of this.tinted) {
      t.material.color.copy(!clusters && t.own ? t.own : clusterColor(this.scene, t.cluster));
    }
    this.draw();
  }
  /** Whether most shapes only stand for inertia, have no colour of their own, and gears or loops are inside. */
  private hidesLoops(): boolean {
    const shapes = this.scene.links.flatMap((l) => l.visuals.length > 0 ? l.visuals : l.collisions);
    const plain = shapes.filter((s) => !s.color && s.kind !== 'mesh');
    return this.scene.clusters.some((c) => c.constrained) && 2 * plain.length > shapes.length;
  }
  /** Shapes as of glass, so that what is inside is seen. */
  setSeeThrough(on: boolean) {
    this.seeThrough = on;
    for (const t of this.tinted) {
      if (!t.shape) continue;
      t.material.transparent = on || t.opacity < 1;
      t.material.opacity = on ? Math.min(0.25, t.opacity) : t.opacity;
      t.material.depthWrite = !t.material.transparent;
      t.material.needsUpdate = true;
    }
    this.draw();
  }
  get hasColors() { return this.tinted.some((t) => t.own); }
  /** Lets one body or one cluster glow. */
  highlight(bodies: Set<number>) {
    this.groups.forEach((group, body) => {
      for (const child of group.children) {
        child.traverse((object) => {
          if (this.groups.includes(object as THREE.Group)) return;
          const material = (object as THREE.Mesh).material;
          if (object.userData.body === body && material instanceof THREE.MeshStandardMaterial) {
            material.emissive.set(bodies.has(body) ? 0xffb347 : 0x000000);
            material.emissiveIntensity = 0.55;
          }
        });
      }
    });
    this.draw();
  }

  pick(event: {clientX: number; clientY: number}): Picked | null {
    const hit = this.ray(event).intersectObjects(this.world.children, true)
        .find((h) => h.object.userData.body !== undefined && this.visible(h.object));
    if (!hit) return null;
    return {body: hit.object.userData.body, link: hit.object.userData.link, point: hit.point};
  }
  /** Where the mouse is in the plane through a point that faces the camera. */
  inPlane(event: {clientX: number; clientY: number}, through: THREE.Vector3): THREE.Vector3 | null {
    const normal = this.camera.getWorldDirection(new THREE.Vector3());
    return this.ray(event).ray.intersectPlane(
        new THREE.Plane().setFromNormalAndCoplanarPoint(normal, through), new THREE.Vector3());
  }
  toLink(link: number, point: THREE.Vector3): THREE.Vector3 {
    const at = this.linkMatrix(link);
    return point.clone().applyMatrix4(at.invert());
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
    return {links: this.drawn.size, bodies: this.groups.length - 1, joints: this.scene.joints.length,
      triangles: this.renderer.info.render.triangles};
  }
  showForces(reactions?: Reactions, strength?: Strength) {
    this.forces.show(reactions, strength);
    this.draw();
  }
  /** Looks from where another robot is looked at. */
  lookAs(other: Robot) {
    this.camera.position.copy(other.camera.position);
    this.camera.up.copy(other.camera.up);
    this.controls.target.copy(other.controls.target);
    this.camera.near = other.camera.near;
    this.camera.far = other.camera.far;
    this.camera.updateProjectionMatrix();
    this.camera.lookAt(this.controls.target);
    this.draw();
  }
  dispose() {
    this.gone = true;
    this.resizing.disconnect();
    this.controls.dispose();
    this.renderer.dispose();
    this.canvas.remove();
  }

  private linkMatrix(link: number): THREE.Matrix4 {
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
  private ray(event: {clientX: number; clientY: number}): THREE.Raycaster {
    const r = this.canvas.getBoundingClientRect();
    const caster = new THREE.Raycaster();
    caster.setFromCamera(new THREE.Vector2((event.clientX - r.left) / r.width * 2 - 1,
        1 - (event.clientY - r.top) / r.height * 2), this.camera);
    return caster;
  }

  private bounds(): THREE.Box3 {
    const box = new THREE.Box3(), p = new THREE.Vector3(), r = new THREE.Vector3();
    for (const group of this.groups) box.expandByPoint(group.getWorldPosition(p));
    for (const link of this.scene.links) {
      if (!link.inertia) continue;
      const {at, radii} = link.inertia, turn = new THREE.Quaternion().fromArray(at, 3);
      for (let k = 0; k < 6; ++k) {  // the tips of the ellipsoid
        p.set(0, 0, 0).setComponent(k % 3, k < 3 ? radii[k % 3] : -radii[k % 3]);
        p.applyQuaternion(turn).add(r.fromArray(at));
        box.expandByPoint(this.groups[link.body].localToWorld(p));
      }
    }
    for (const loop of this.scene.loops) {
      for (const e of loop.ends) box.expandByPoint(this.groups[e.body].localToWorld(p.fromArray(e.point)));
    }
    for (const group of this.groups) {
      for (const child of group.children) {
        if (child.userData.shape) box.expandByObject(child);
      }
    }
    return box;
  }

  private light(box: THREE.Box3) {
    const background = document.createElement('canvas');
    background.width = 2, background.height = 256;
    const paint = background.getContext('2d')!;
    const shade = paint.createLinearGradient(0, 0, 0, 256);
    shade.addColorStop(0, '#2b3442'), shade.addColorStop(0.6, '#1b222d'), shade.addColorStop(1, '#12171f');
    paint.fillStyle = shade, paint.fillRect(0, 0, 2, 256);
    const texture = new THREE.CanvasTexture(background);
    texture.colorSpace = THREE.SRGBColorSpace;
    this.world.background = texture;
    this.world.add(new THREE.HemisphereLight(0xdfe9ff, 0x2a2a30, 1.5));
    const sun = new THREE.DirectionalLight(0xffffff, 2.4);
    const centre = box.getCenter(new THREE.Vector3());
    sun.position.copy(centre).add(new THREE.Vector3(0.6, -0.5, 1.4).multiplyScalar(this.size));
    sun.target.position.copy(centre);
    sun.castShadow = true;
    sun.shadow.mapSize.set(2048, 2048);
    Object.assign(sun.shadow.camera, {left: -this.size, right: this.size, top: this.size,
      bottom: -this.size, near: 0.01 * this.size, far: 5 * this.size});
    sun.shadow.bias = -0.0005;
    this.world.add(sun, sun.target);
    this.sun = sun;
    const fill = new THREE.DirectionalLight(0x9fc0ff, 0.7);
    fill.position.set(-1, 1, 0.4);
    this.world.add(fill);
    const step = 10 ** Math.round(Math.log10(this.size / 8));
    const floor = box.min.z - 0.02 * this.size;
    const cells = 2 * Math.ceil(1.6 * this.size / step);
    const grid = new THREE.GridHelper(cells * step, cells, 0x4b5a70, 0x2f3a4a);
    grid.rotation.x = Math.PI / 2;
    grid.position.set(Math.round(centre.x / step) * step, Math.round(centre.y / step) * step, floor);
    (grid.material as THREE.Material).transparent = true;
    (grid.material as THREE.Material).opacity = 0.7;
    const shadow = new THREE.Mesh(new THREE.PlaneGeometry(cells * step, cells * step),
        new THREE.ShadowMaterial({opacity: 0.35}));
    shadow.position.copy(grid.position).setZ(floor - 0.001 * this.size);
    shadow.receiveShadow = true;
    this.world.add(grid, shadow);
    this.floor = shadow;
  }
  private castShadows(on: boolean) {
    if (!this.sun || !this.floor) return;
    this.sun.castShadow = this.floor.visible = on;
    this.renderer.shadowMap.needsUpdate = true;
  }

  private readonly loading: Promise<void>[] = [];

  private material(cluster: number, own?: number[], opacity = 1, shape = false): THREE.MeshStandardMaterial {
    const material = new THREE.MeshStandardMaterial({
      color: clusterColor(this.scene, cluster), roughness: 0.5, metalness: 0.12,
      transparent: opacity < 1, opacity, depthWrite: opacity >= 1,
    });
    this.tinted.push({material, cluster, opacity, shape,
      own: own && new THREE.Color().setRGB(own[0], own[1], own[2], THREE.SRGBColorSpace)});
    return material;
  }
  /** Puts an object on a body. */
  private add(layer: Layer, body: number, object: THREE.Object3D, link = -1, pickable = true) {
    if (link >= 0 && pickable) this.drawn.add(link);
    object.traverse((o) => {
      if (!pickable) return;
      o.userData.body = body;
      o.userData.link = link >= 0 ? link : this.scene.links.findIndex((l) => l.body === body);
      if (o instanceof THREE.Mesh) o.castShadow = !(o.material as THREE.Material).transparent;
    });
    const list = this.layered.get(layer) ?? [];
    list.push(object);
    this.layered.set(layer, list);
    this.groups[body].add(object);
  }
  private applyLayers() {
    for (const [layer, objects] of this.layered) {
      for (const o of objects) o.visible = this.layers[layer];
    }
    // A rod of a loop has no shape in any file.
    for (const {mesh} of this.rods) mesh.visible = this.layers.shapes || this.layers.skeleton;
    this.draw();
  }

  private build(source: MeshSource) {
    const s = this.scene;
    s.links.forEach((link, i) => {
      const shapes = link.visuals.length > 0 ? link.visuals : link.collisions;
      for (const shape of shapes) this.addShape(link, i, shape, source);
      if (link.inertia) this.addInertia(link, i);
    });
    const thin = 0.008 * this.size;
    s.bodies.forEach((body, i) => this.addSkeleton(i, body.rotor, thin));
    if (this.hasShapes) s.bodies.forEach((_, i) => this.bridge(i, thin));
    for (const [k, loop] of s.loops.entries()) {
      if (loop.ends.length === 2) this.addRod(k, thin);
      for (const end of loop.ends) {
        const pin = new THREE.Mesh(new THREE.SphereGeometry(1.5 * thin, this.steps(20), this.steps(14)),
            this.metal(0xf4f6fa));
        pin.position.fromArray(end.point);
        this.add('skeleton', end.body, pin);
      }
    }
    const arrows = 0.07 * this.size;
    for (const joint of s.joints) {
      if (joint.unit === '') continue;
      const color = joint.independent ? 0xffc857 : 0x6fb7ff;
      const axis = this.dashed([[0, 0, -arrows], [0, 0, arrows]], color, !joint.independent);
      const head = new THREE.Mesh(new THREE.ConeGeometry(0.09 * arrows, 0.28 * arrows, 12),
          new THREE.MeshBasicMaterial({color}));
      head.rotation.x = Math.PI / 2;
      head.position.z = arrows;
      this.add('axes', joint.body, axis, -1, false);
      if (!s.bodies[joint.body].rotor) this.add('axes', joint.body, head, -1, false);
    }
    for (const frame of s.frames) {
      const axes = new THREE.AxesHelper(0.05 * this.size);
      place(axes, frame.at);
      this.add('frames', frame.body, axes, -1, false);
    }
    s.links.forEach((link) => {
      const axes = new THREE.AxesHelper(0.04 * this.size);
      place(axes, link.at);
      this.add('frames', link.body, axes, -1, false);
    });
  }

  /** Edges that stand for something round: fewer where no GPU draws them. */
  private steps(fine: number) { return this.smooth ? fine : Math.max(4, Math.round(0.55 * fine)); }
  private metal(color: number) {
    return new THREE.MeshStandardMaterial({color, roughness: 0.35, metalness: 0.5});
  }
  private dashed(points: number[][], color: number, dash: boolean) {
    const geometry = new THREE.BufferGeometry().setFromPoints(points.map((p) => new THREE.Vector3().fromArray(p)));
    const size = 0.008 * this.size;
    const line = new THREE.Line(geometry, dash ?
      new THREE.LineDashedMaterial({color, dashSize: size, gapSize: size}) :
      new THREE.LineBasicMaterial({color}));
    return line.computeLineDistances();
  }
  private bar(from: THREE.Vector3, to: THREE.Vector3, radius: number, material: THREE.Material) {
    const length = from.distanceTo(to);
    const mesh = new THREE.Mesh(new THREE.CapsuleGeometry(radius, Math.max(length, 1e-9), this.steps(6), this.steps(16)), material);
    mesh.position.copy(from).add(to).multiplyScalar(0.5);
    mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0),
        to.clone().sub(from).normalize());
    return mesh;
  }

  /** Bars from a body's joint to those that hang on it and to the ends of loops. */
  private addSkeleton(body: number, rotor: boolean, thin: number) {
    const s = this.scene, cluster = s.bodies[body].cluster;
    const link = s.links.findIndex((l) => l.body === body);
    const origin = new THREE.Vector3();
    if (rotor || this.isRotor(body)) return this.addRotor(body, link, thin);
    const ends: THREE.Vector3[] = [];
    s.bodies.forEach((child, i) => {
      if (child.parent !== body || this.isRotor(i)) return;
      ends.push(new THREE.Vector3().fromArray(child.placement));
    });
    for (const loop of s.loops) {
      for (const end of loop.ends) {
        if (end.body === body) ends.push(new THREE.Vector3().fromArray(end.point));
      }
    }
    const heaviest = s.links.filter((l) => l.body === body && l.inertia)
        .sort((a, b) => b.mass - a.mass)[0];
    if (ends.every((e) => e.length() < 0.005 * this.size) && heaviest?.inertia && body !== 0) {
      // A last body has no joint beyond: the bar goes through its centre of mass.
      ends.push(new THREE.Vector3().fromArray(heaviest.inertia.at).multiplyScalar(1.6));
    }
    const material = this.material(cluster);
    for (const end of ends) {
      if (end.length() < 0.004 * this.size) continue;
      this.add('skeleton', body, this.bar(origin, end, body === 0 ? 0.6 * thin : thin, material), link);
    }
    if (body !== 0) {
      const joint = s.joints[s.bodies[body].joint];
      const knob = new THREE.Mesh(
          joint && joint.unit !== 'rad' ? new THREE.BoxGeometry(3.4 * thin, 3.4 * thin, 3.4 * thin) :
            new THREE.CylinderGeometry(1.7 * thin, 1.7 * thin, 3.6 * thin, this.steps(24)),
          joint && !joint.independent ? this.metal(0x4f8fd0) : this.metal(0xf0b740));
      knob.rotation.x = Math.PI / 2;
      this.add('skeleton', body, knob, link);
    }
  }
  /** Bars to joints that a body's shapes leave in the air, as solids that stand for inertia do. */
  private bridge(body: number, thin: number) {
    const s = this.scene;
    if (body === 0 || this.isRotor(body)) return;
    const shapes = this.groups[body].children.filter((c) => c.userData.shape);
    if (s.links.some((l) => l.body === body && [...l.visuals, ...l.collisions].some((v) => v.kind === 'mesh'))) return;
    this.world.updateMatrixWorld(true);
    const box = new THREE.Box3(), inside = this.groups[body].matrixWorld.clone().invert();
    for (const shape of shapes) {
      shape.traverse((o) => {
        if (!(o instanceof THREE.Mesh)) return;
        o.geometry.computeBoundingBox();
        box.union(o.geometry.boundingBox!.clone().applyMatrix4(inside.clone().multiply(o.matrixWorld)));
      });
    }
    const ends = [new THREE.Vector3()];
    s.bodies.forEach((child, i) => {
      if (child.parent === body && !this.isRotor(i)) ends.push(new THREE.Vector3().fromArray(child.placement));
    });
    for (const loop of s.loops) {
      for (const end of loop.ends) if (end.body === body) ends.push(new THREE.Vector3().fromArray(end.point));
    }
    const link = s.links.findIndex((l) => l.body === body);
    const material = this.material(s.bodies[body].cluster, undefined, 1, true);
    for (const end of ends) {
      // From the nearest point of what is drawn, or else from the body's own joint.
      const from = box.isEmpty() ? new THREE.Vector3() : box.clampPoint(end, new THREE.Vector3());
      if (from.distanceTo(end) < 0.02 * this.size) continue;
      const start = box.isEmpty() ? from : from.lerp(box.getCenter(new THREE.Vector3()), 0.5);
      this.add('shapes', body, this.bar(start, end, 1.3 * thin, material), link);
    }
  }
  /** Folded rotors, and bodies behind gears that carry nothing. */
  isRotor(body: number): boolean {
    const s = this.scene;
    if (s.bodies[body].rotor) return true;
    return /rotor|motor/i.test(s.bodies[body].name) && !s.bodies.some((b) => b.parent === body) &&
        s.clusters[s.bodies[body].cluster]?.constrained === true;
  }
  /** A disc with a notch, so that its turning is seen. */
  private addRotor(body: number, link: number, thin: number) {
    const cluster = this.scene.bodies[body].cluster;
    const group = new THREE.Group();
    const ring = new THREE.Mesh(new THREE.TorusGeometry(3.2 * thin, 0.55 * thin, this.steps(12), this.steps(40)), this.material(cluster));
    const spoke = new THREE.Mesh(new THREE.BoxGeometry(6.2 * thin, 0.7 * thin, 0.7 * thin), this.metal(0x2a2f38));
    const mark = new THREE.Mesh(new THREE.SphereGeometry(0.8 * thin, this.steps(14), this.steps(10)), this.metal(0xffffff));
    mark.position.x = 3.2 * thin;
    group.add(ring, spoke, mark);
    this.add('rotors', body, group, link);
  }
  private addInertia(link: Link, i: number) {
    const inertia = link.inertia!;
    const least = 0.003 * this.size;
    const cluster = this.scene.bodies[link.body].cluster;
    if (!this.isRotor(link.body)) {
      const mesh = new THREE.Mesh(new THREE.SphereGeometry(1, this.steps(40), this.steps(28)), this.material(cluster, undefined, 0.32));
      mesh.scale.set(...(inertia.radii.map((r) => Math.max(r, least)) as [number, number, number]));
      const holder = new THREE.Group();
      place(holder, inertia.at);
      holder.add(mesh);
      this.add('inertia', link.body, holder, i);
    }
    const dot = new THREE.Mesh(new THREE.SphereGeometry(0.012 * this.size, 16, 12),
        new THREE.MeshBasicMaterial({color: 0xff5d73, depthTest: false, transparent: true}));
    dot.position.fromArray(inertia.at);
    this.add('centres', link.body, dot, -1, false);
  }

  /** A rod between the two ends of a loop, which lie on different bodies. */
  private addRod(loop: number, thin: number) {
    const mesh = new THREE.Mesh(new THREE.CylinderGeometry(0.7 * thin, 0.7 * thin, 1, this.steps(16)), this.metal(0xdfe5ee));
    mesh.castShadow = true;
    const rod = {mesh, loop};
    this.rods.push(rod);
    this.world.add(mesh);
    this.stretch(rod);
  }
  private stretch(rod: {mesh: THREE.Mesh; loop: number}) {
    const [a, b] = this.loopEnds(rod.loop).map((p) => new THREE.Vector3().fromArray(p));
    const length = a.distanceTo(b);
    rod.mesh.scale.set(1, Math.max(length, 1e-9), 1);
    rod.mesh.position.copy(a).add(b).multiplyScalar(0.5);
    if (length > 1e-9) {
      rod.mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), b.sub(a).normalize());
    }
    rod.mesh.updateMatrixWorld();
  }

  private addShape(link: Link, i: number, shape: Shape, source: MeshSource) {
    const cluster = this.scene.bodies[link.body].cluster;
    const material = this.material(cluster, shape.color, shape.color?.[3] ?? 1, true);
    // Faces of neighbouring bodies often lie in one plane: one of them wins, always the same.
    Object.assign(material, {polygonOffset: true, polygonOffsetFactor: link.body % 5, polygonOffsetUnits: 2 * (link.body % 5)});
    const holder = new THREE.Group();
    holder.userData.shape = true;
    place(holder, shape.at);
    const put = (geometry: THREE.BufferGeometry, upright = false) => {
      const mesh = new THREE.Mesh(geometry, material);
      if (upright) mesh.rotation.x = Math.PI / 2;  // three's own stand along y
      holder.add(mesh);
      return mesh;
    };
    const size = shape.size ?? [1, 1, 1];
    switch (shape.kind) {
      case 'box': {
        // What stands for the inertia of a rod has no width to be seen.
        const [x, y, z] = size.map((edge) => shape.color ? edge : Math.max(edge, 0.01 * this.size));
        put(new THREE.BoxGeometry(x, y, z));
        break;
      }
      case 'sphere': put(new THREE.SphereGeometry(shape.radius, this.steps(32), this.steps(24))); break;
      case 'cylinder': put(new THREE.CylinderGeometry(shape.radius, shape.radius, shape.length, this.steps(40)), true); break;
      case 'capsule': put(new THREE.CapsuleGeometry(shape.radius, shape.length, this.steps(12), this.steps(32)), true); break;
      case 'ellipsoid':
        put(new THREE.SphereGeometry(1, this.steps(32), this.steps(24))).scale.fromArray(shape.radii!);
        break;
      case 'plane':
        put(new THREE.PlaneGeometry(size[0] || 4 * this.size, size[1] || 4 * this.size)).castShadow = false;
        break;
      case 'height_field': {
        const rows = shape.rows ?? 0, columns = shape.columns ?? 0;
        if (rows > 1 && columns > 1) {
          const g = new THREE.PlaneGeometry(size[0], size[1], columns - 1, rows - 1);
          const at = g.getAttribute('position');
          for (let k = 0; k < at.count; ++k) {
            // three's rows run from high y to low y.
            const row = rows - 1 - Math.floor(k / columns);
            at.setZ(k, size[2] * (shape.heights?.[row * columns + k % columns] ?? 0));
          }
          g.computeVertexNormals();
          put(g);
        }
        break;
      }
      case 'mesh':
        if (shape.mesh !== undefined) {
          this.loading.push(this.loadMesh(shape, holder, material, source).then(() => {
            this.mark(holder, link.body, i);
          }));
        }
        break;
    }
    this.add('shapes', link.body, holder, i);
  }
  private mark(holder: THREE.Object3D, body: number, link: number) {
    holder.traverse((o) => {
      Object.assign(o.userData, {body, link});
      o.castShadow = true;
    });
    this.draw();
  }
  private async loadMesh(shape: Shape, holder: THREE.Group, material: THREE.Material, source: MeshSource) {
    const bytes = await source(shape.mesh!);
    if (!bytes) return;
    let object: THREE.Object3D;
    if (shape.format === 'stl') {
      const geometry = new STLLoader().parse(bytes);
      if (!geometry.getAttribute('normal')) geometry.computeVertexNormals();
      object = new THREE.Mesh(geometry, material);
    } else {
      const text = new TextDecoder().decode(bytes);
      object = shape.format === 'obj' ? new OBJLoader().parse(text) :
        new ColladaLoader().parse(text, '').scene;
      object.traverse((o) => { if (o instanceof THREE.Mesh) o.material = material; });
    }
    object.scale.multiply(new THREE.Vector3().fromArray(shape.scale ?? [1, 1, 1]));
    holder.add(object);
  }

  private resize() {
    const {clientWidth: w, clientHeight: h} = this.container;
    if (w === 0 || h === 0) return;
    this.renderer.setSize(w, h);
    this.camera.aspect = w / h;
    this.camera.updateProjectionMatrix();
    this.draw();
  }
}
