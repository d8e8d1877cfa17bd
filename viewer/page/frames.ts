/** When frames are drawn, and how finely. */
import * as THREE from 'three';
import {Pace, isSoftware} from './pace';

export class Frames {
  readonly canvas = document.createElement('canvas');
  drawn = 0;
  /** A picture is taken at any time: then nothing waits for a frame, and none is coarse. */
  private readonly picture = location.hash.startsWith('#picture');
  /** Edges are not smoothed without a GPU: that takes as long again, and only pictures are worth it. */
  readonly smooth = this.picture || !isSoftware();
  private readonly renderer: THREE.WebGLRenderer;
  private readonly pace: Pace;
  private started = false;
  private needed = true;
  private moving = false;
  private drawnAt = 0;
  private askedAt = 0;
  private gone = false;

  /** @param before  brings the world up to date */
  constructor(private readonly world: THREE.Scene, private readonly before: () => void, castShadows: (on: boolean) => void) {
    // What is opaque and not kept for scripts is put on the page without being blended or copied.
    const context = this.canvas.getContext('webgl2', {alpha: false, antialias: this.smooth, depth: true,
      stencil: false, preserveDrawingBuffer: this.picture});
    if (!context) throw new Error('This browser draws nothing in three dimensions: WebGL 2 is off or missing. Switch on its hardware acceleration, or take another browser.');
    // A driver that starts anew takes what was drawn with it.
    this.canvas.addEventListener('webglcontextrestored', () => this.ask());
    this.renderer = new THREE.WebGLRenderer({canvas: this.canvas, context});
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.renderer.toneMapping = THREE.ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 1.1;
    this.pace = new Pace(this.renderer, (on) => {
      castShadows(on);
      this.renderer.shadowMap.needsUpdate = true;
    });
  }
  /** The first frame is drawn at once: pictures are taken of it. */
  start(camera: THREE.Camera) {
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
    this.camera = camera;
    this.started = true;
    loop(performance.now());
  }
  private camera: THREE.Camera | null = null;
  ask() {
    this.needed = true;
    this.askedAt = performance.now();
    if (this.picture && this.started) this.render(performance.now(), false);
  }
  get statistics() { return this.renderer.info.render; }
  resize(width: number, height: number) { this.renderer.setSize(width, height); }
  dispose() {
    this.gone = true;
    this.renderer.dispose();
    this.canvas.remove();
  }

  private render(now: number, moves: boolean) {
    this.pace.apply(moves);
    this.drawnAt = now;
    ++this.drawn;
    this.before();
    this.renderer.render(this.world, this.camera!);
  }
}
