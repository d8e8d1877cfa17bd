/** What is around a robot: a backdrop, lights, and a floor with shadows. */
import * as THREE from 'three';

/** Colours from top to bottom, at parts of the height. */
const shades: [number, number][] = [[0, 0x2b3442], [0.6, 0x1b222d], [1, 0x12171f]];

/** A gradient in colours of the screen. three's own background takes powers at each pixel, which is half of all that a
 * processor has to draw. */
function backdrop() {
  const positions: number[] = [], colors: number[] = [];
  for (const [part, shade] of shades) {
    for (const x of [-1, 1]) {
      positions.push(x, 1 - 2 * part, 0);
      colors.push((shade >> 16) / 255, (shade >> 8 & 255) / 255, (shade & 255) / 255);
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(positions, 3));
  geometry.setAttribute('color', new THREE.Float32BufferAttribute(colors, 3));
  geometry.setIndex([0, 2, 1, 1, 2, 3, 2, 4, 3, 3, 4, 5]);
  const mesh = new THREE.Mesh(geometry, new THREE.ShaderMaterial({
    vertexShader: 'varying vec3 shade; void main() { shade = color; gl_Position = vec4(position.xy, 1.0, 1.0); }',
    fragmentShader: 'varying vec3 shade; void main() { gl_FragColor = vec4(shade, 1.0); }',
    vertexColors: true, depthTest: false, depthWrite: false,
  }));
  mesh.frustumCulled = false;
  mesh.renderOrder = -1000;
  mesh.raycast = () => {};
  return mesh;
}

export class Scenery {
  private readonly sun = new THREE.DirectionalLight(0xffffff, 2.4);
  private readonly floor: THREE.Mesh;  // on which shadows fall

  /** @param box  of all that is drawn of the robot @param size  of the robot */
  constructor(world: THREE.Scene, box: THREE.Box3, size: number) {
    world.add(backdrop(), new THREE.HemisphereLight(0xdfe9ff, 0x2a2a30, 1.5));
    const centre = box.getCenter(new THREE.Vector3());
    this.shine(centre, size);
    const fill = new THREE.DirectionalLight(0x9fc0ff, 0.7);
    fill.position.set(-1, 1, 0.4);
    world.add(this.sun, this.sun.target, fill);
    const step = 10 ** Math.round(Math.log10(size / 8));
    const floor = box.min.z - 0.02 * size;
    const cells = 2 * Math.ceil(1.6 * size / step);
    const grid = new THREE.GridHelper(cells * step, cells, 0x4b5a70, 0x2f3a4a);
    grid.rotation.x = Math.PI / 2;
    grid.position.set(Math.round(centre.x / step) * step, Math.round(centre.y / step) * step, floor);
    (grid.material as THREE.Material).transparent = true;
    (grid.material as THREE.Material).opacity = 0.7;
    this.floor = new THREE.Mesh(new THREE.PlaneGeometry(cells * step, cells * step),
        new THREE.ShadowMaterial({opacity: 0.35}));
    this.floor.position.copy(grid.position).setZ(floor - 0.001 * size);
    this.floor.receiveShadow = true;
    world.add(grid, this.floor);
  }
  castShadows(on: boolean) { this.sun.castShadow = this.floor.visible = on; }

  private shine(centre: THREE.Vector3, size: number) {
    const sun = this.sun;
    sun.position.copy(centre).add(new THREE.Vector3(0.6, -0.5, 1.4).multiplyScalar(size));
    sun.target.position.copy(centre);
    sun.castShadow = true;
    sun.shadow.mapSize.set(2048, 2048);
    Object.assign(sun.shadow.camera, {left: -size, right: size, top: size, bottom: -size, near: 0.01 * size, far: 5 * size});
    sun.shadow.bias = -0.0005;
  }
}
