/** Geometry of the shapes and meshes of robot files. */
import * as THREE from 'three';
import {STLLoader} from 'three/examples/jsm/loaders/STLLoader.js';
import {OBJLoader} from 'three/examples/jsm/loaders/OBJLoader.js';
import {ColladaLoader} from 'three/examples/jsm/loaders/ColladaLoader.js';
import type {Shape} from '../types';

export type MeshSource = (number: number) => Promise<ArrayBuffer | null>;

function heightField(shape: Shape, size: number[]): THREE.BufferGeometry | null {
  const rows = shape.rows ?? 0, columns = shape.columns ?? 0;
  if (rows < 2 || columns < 2) return null;
  const geometry = new THREE.PlaneGeometry(size[0], size[1], columns - 1, rows - 1);
  const at = geometry.getAttribute('position');
  for (let k = 0; k < at.count; ++k) {
    // three's rows run from high y to low y.
    const row = rows - 1 - Math.floor(k / columns);
    at.setZ(k, size[2] * (shape.heights?.[row * columns + k % columns] ?? 0));
  }
  geometry.computeVertexNormals();
  return geometry;
}

function geometryOf(shape: Shape, whole: number, steps: (fine: number) => number): THREE.BufferGeometry | null {
  const size = shape.size ?? [1, 1, 1];
  switch (shape.kind) {
    case 'box': {
      // What stands for the inertia of a rod has no width to be seen.
      const [x, y, z] = size.map((edge) => shape.color ? edge : Math.max(edge, 0.01 * whole));
      return new THREE.BoxGeometry(x, y, z);
    }
    case 'sphere': return new THREE.SphereGeometry(shape.radius, steps(32), steps(24));
    case 'cylinder': return new THREE.CylinderGeometry(shape.radius, shape.radius, shape.length, steps(40));
    case 'capsule': return new THREE.CapsuleGeometry(shape.radius, shape.length, steps(12), steps(32));
    case 'ellipsoid': return new THREE.SphereGeometry(1, steps(32), steps(24));
    case 'plane': return new THREE.PlaneGeometry(size[0] || 4 * whole, size[1] || 4 * whole);
    case 'height_field': return heightField(shape, size);
    default: return null;
  }
}

/** A shape that is no mesh. @param whole  size of the robot @param steps  edges that stand for something round */
export function shapeMesh(shape: Shape, material: THREE.Material, whole: number, steps: (fine: number) => number) {
  const geometry = geometryOf(shape, whole, steps);
  if (!geometry) return null;
  const mesh = new THREE.Mesh(geometry, material);
  if (shape.kind === 'cylinder' || shape.kind === 'capsule') mesh.rotation.x = Math.PI / 2;  // three's own stand along y
  if (shape.kind === 'ellipsoid') mesh.scale.fromArray(shape.radii!);
  return mesh;
}

/** @return null where the file is not to be had */
export async function loadMesh(shape: Shape, material: THREE.Material, source: MeshSource): Promise<THREE.Object3D | null> {
  const bytes = await source(shape.mesh!);
  if (!bytes) return null;
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
  return object;
}
