/** Colours and materials: of clusters, of the file, of metal. */
import * as THREE from 'three';
import type {Scene} from '../types';

const ground = 0x8b95a5;

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

export function metal(color: number) {
  return new THREE.MeshStandardMaterial({color, roughness: 0.35, metalness: 0.5});
}

/** What has the colour of its cluster, or one of its own. */
interface Tinted {
  material: THREE.MeshStandardMaterial;
  cluster: number;
  own?: THREE.Color;
  opacity: number;
  shape: boolean;
}

export class Paint {
  private readonly tinted: Tinted[] = [];
  constructor(private readonly scene: Scene) {}

  /** @param own  colour of the file @param shape  whether it hides what is inside */
  material(cluster: number, own?: number[], opacity = 1, shape = false): THREE.MeshStandardMaterial {
    const material = new THREE.MeshStandardMaterial({
      color: clusterColor(this.scene, cluster), roughness: 0.5, metalness: 0.12,
      transparent: opacity < 1, opacity, depthWrite: opacity >= 1,
    });
    this.tinted.push({material, cluster, opacity, shape,
      own: own && new THREE.Color().setRGB(own[0], own[1], own[2], THREE.SRGBColorSpace)});
    return material;
  }
  /** Clusters in colours, or the colours of the file. */
  setColors(clusters: boolean) {
    for (const t of this.tinted) {
      t.material.color.copy(!clusters && t.own ? t.own : clusterColor(this.scene, t.cluster));
    }
  }
  /** Shapes as of glass, so that what is inside is seen. */
  setSeeThrough(on: boolean) {
    for (const t of this.tinted) {
      if (!t.shape) continue;
      t.material.transparent = on || t.opacity < 1;
      t.material.opacity = on ? Math.min(0.25, t.opacity) : t.opacity;
      t.material.depthWrite = !t.material.transparent;
      t.material.needsUpdate = true;
    }
  }
  get hasColors() { return this.tinted.some((t) => t.own); }
}
