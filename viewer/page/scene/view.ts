/** From where a robot is looked at, and what is under the mouse. */
import * as THREE from 'three';
import {OrbitControls} from 'three/examples/jsm/controls/OrbitControls.js';

export class View {
  readonly camera = new THREE.PerspectiveCamera(38, 1, 0.001, 500);
  readonly controls: OrbitControls;

  /** @param size  of the robot @param changed  a new frame is due */
  constructor(private readonly canvas: HTMLCanvasElement, private readonly size: number,
      private readonly changed: () => void) {
    this.controls = new OrbitControls(this.camera, canvas);
    this.camera.up.set(0, 0, 1);
    this.controls.addEventListener('change', changed);
  }

  /** From angles in degrees, at a distance in sizes of the robot. */
  look(target: THREE.Vector3, azimuth: number, elevation: number, distance: number) {
    const a = azimuth * Math.PI / 180, e = elevation * Math.PI / 180;
    this.camera.position.set(Math.cos(a) * Math.cos(e), Math.sin(a) * Math.cos(e), Math.sin(e))
        .multiplyScalar(distance * this.size).add(target);
    this.camera.near = this.size / 200;
    this.camera.far = this.size * 60;
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(target);
    this.controls.update();
    this.changed();
  }
  /** From the same side at the whole of a box. */
  fit(box: THREE.Box3) {
    const ball = box.getBoundingSphere(new THREE.Sphere());
    const half = this.camera.fov * Math.PI / 360;
    const narrow = Math.atan(Math.tan(half) * Math.min(1, this.camera.aspect));
    const back = this.camera.position.clone().sub(this.controls.target).normalize();
    this.camera.position.copy(ball.center).addScaledVector(back, Math.max(ball.radius, 0.02) / Math.sin(narrow));
    this.controls.target.copy(ball.center);
    this.controls.update();
    this.changed();
  }
  /** From where another robot is looked at. */
  lookAs(other: View) {
    this.camera.position.copy(other.camera.position);
    this.camera.up.copy(other.camera.up);
    this.controls.target.copy(other.controls.target);
    this.camera.near = other.camera.near;
    this.camera.far = other.camera.far;
    this.camera.updateProjectionMatrix();
    this.camera.lookAt(this.controls.target);
    this.changed();
  }
  /** Goes along until a point is in the middle. */
  follow(middle: THREE.Vector3) {
    const way = middle.clone().sub(this.controls.target);
    this.camera.position.add(way);
    this.controls.target.add(way);
    this.controls.update();
  }
  contains(points: THREE.Vector3[]): boolean {
    this.camera.updateMatrixWorld();
    return points.every((point) => {
      const p = point.clone().project(this.camera);
      return Math.abs(p.x) < 1 && Math.abs(p.y) < 1;
    });
  }

  /** A point on the screen [pixels]. */
  onScreen(point: THREE.Vector3): number[] {
    const p = point.clone().project(this.camera);
    const r = this.canvas.getBoundingClientRect();
    return [r.left + (p.x + 1) / 2 * r.width, r.top + (1 - p.y) / 2 * r.height];
  }
  ray(event: {clientX: number; clientY: number}): THREE.Raycaster {
    const r = this.canvas.getBoundingClientRect();
    const caster = new THREE.Raycaster();
    caster.setFromCamera(new THREE.Vector2((event.clientX - r.left) / r.width * 2 - 1,
        1 - (event.clientY - r.top) / r.height * 2), this.camera);
    return caster;
  }
  /** Where the mouse is in the plane through a point that faces the camera. */
  inPlane(event: {clientX: number; clientY: number}, through: THREE.Vector3): THREE.Vector3 | null {
    const normal = this.camera.getWorldDirection(new THREE.Vector3());
    return this.ray(event).ray.intersectPlane(
        new THREE.Plane().setFromNormalAndCoplanarPoint(normal, through), new THREE.Vector3());
  }
  resize(width: number, height: number) {
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.changed();
  }
  dispose() { this.controls.dispose(); }
}
