/** Where a machine draws slowly, as without a GPU, what moves is drawn coarsely and what stands still finely. */
import type * as THREE from 'three';

/** Part of the pixels along each edge. */
const coarseness = [1, 1, 0.6, 0.4];  // without shadows from the second on
const slow = 34;  // a frame that moves [ms]: 30 a second

let software: boolean | null = null;
/** Whether no GPU draws. */
export function isSoftware(): boolean {
  if (software !== null) return software;
  const context = document.createElement('canvas').getContext('webgl2');
  const names = context?.getExtension('WEBGL_debug_renderer_info');
  const name = names ? String(context!.getParameter(names.UNMASKED_RENDERER_WEBGL)) : '';
  context?.getExtension('WEBGL_lose_context')?.loseContext();
  return software = /SwiftShader|llvmpipe|softpipe|Basic Render/i.test(name);
}

let draft = false;
/** What numbers and charts wait for between two changes [ms]: where frames are slow, each takes as long as a frame. */
export const restOfPage = () => draft ? 120 : 0;

export class Pace {
  private level = 0;
  private usual = 0;  // time of a frame [ms]
  private seen = 0;   // frames at this level
  private shown = 0;
  private readonly ratio: number;

  /** @param castShadows  switches shadows, which take half the time of a pixel */
  constructor(private readonly renderer: THREE.WebGLRenderer, private readonly castShadows: (on: boolean) => void) {
    this.ratio = renderer.getPixelRatio();
  }

  /** A frame of a motion took so long. */
  take(milliseconds: number) {
    if (milliseconds > 2000) return;  // a page that was hidden
    if (++this.seen <= 4) return;  // in which shaders are compiled, and buffers made
    this.usual = this.usual === 0 ? milliseconds : 0.7 * this.usual + 0.3 * milliseconds;
    if (this.usual < slow || this.level === coarseness.length - 1) return;
    // Far from fast enough without shadows: at once as coarse as it gets, since each change of size costs a frame or two.
    this.level = this.level > 0 && this.usual > 2 * slow ? coarseness.length - 1 : this.level + 1;
    this.usual = this.seen = 0;
  }
  /** Before a frame. */
  apply(moves: boolean) {
    const wanted = moves ? this.level : 0;
    draft = wanted > 0;
    if (wanted === this.shown) return;
    this.shown = wanted;
    this.renderer.setPixelRatio(this.ratio * coarseness[wanted]);
    this.castShadows(wanted === 0);
  }
  get isDraft() { return this.shown > 0; }
}

/** Does something at once, or, where that is too often, soon: of what waits the newest alone counts. */
export class Rarely<T> {
  private waiting: T | null = null;
  private timer = 0;
  private last = -Infinity;
  constructor(private readonly act: (what: T) => void, private readonly pause = restOfPage) {}

  ask(what: T, atOnce = false) {
    this.waiting = what;
    const left = this.last + this.pause() - performance.now();
    if (atOnce || left <= 0) this.flush();
    else if (this.timer === 0) this.timer = window.setTimeout(() => this.flush(), left);
  }
  stop() {
    window.clearTimeout(this.timer);
    this.timer = 0;
  }
  private flush() {
    this.stop();
    if (this.waiting === null) return;
    const what = this.waiting;
    this.waiting = null;
    this.last = performance.now();
    this.act(what);
  }
}
