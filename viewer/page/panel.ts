/** The side panel: verdict, sliders, simulation, trees. */
import {clusterColor, type Layer, type Robot} from './robot';
import type {Pose, Scene} from './types';

type Child = Node | string;
export function element<K extends keyof HTMLElementTagNameMap>(
    tag: K, attributes: Record<string, string> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const out = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) out.setAttribute(name, value);
  out.append(...children);
  return out;
}
export function button(label: string, title: string, id: string, press: () => void) {
  const out = element('button', {type: 'button', title, id}, label);
  out.addEventListener('click', press);
  return out;
}
function section(title: string, open: boolean, ...children: Child[]) {
  const out = element('details', {}, element('summary', {}, title), ...children);
  out.open = open;
  return out;
}
function swatch(scene: Scene, cluster: number) {
  return element('i', {class: 'swatch', style: `background:#${clusterColor(scene, cluster).getHexString()}`});
}
const readable = (x: number, unit: string) =>
  unit === 'rad' ? `${(x * 180 / Math.PI).toFixed(1)}°` : unit === 'm' ? `${(x * 1000).toFixed(1)} mm` : x.toFixed(3);

const many = (n: number, one: string, more: string) => `${n} ${n === 1 ? one : more}`;

export interface Actions {
  slide(slider: number, value: number): void;
  neutral?(): void;
  random?(): void;
  branch?(cluster: number): void;
}

export class Panel {
  readonly status = element('span', {class: 'status', id: 'status'});
  readonly extra = element('div');  // simulation or player
  private readonly sliders: HTMLInputElement[] = [];
  private readonly numbers: HTMLElement[] = [];
  private readonly dependents: {joint: number; out: HTMLElement}[] = [];
  private readonly needle = element('div', {class: 'needle'});
  private readonly margin = element('b', {id: 'margin'});
  private readonly residual = element('b', {id: 'residual'});
  private readonly words = element('p', {id: 'words'});
  private readonly verdict = element('section', {class: 'verdict', id: 'verdict'});
  private readonly rows = new Map<HTMLElement, Set<number>>();
  private selected: HTMLElement | null = null;
  private held = -1;  // slider under the hand

  /** @param follow  whether poses come with all coordinates, dependent ones too */
  constructor(holder: HTMLElement, private readonly scene: Scene, private readonly robot: Robot,
      actions: Actions, private readonly follow: boolean) {
    holder.replaceChildren(
        element('header', {}, element('h1', {}, scene.name || 'robot'), this.status,
            element('p', {class: 'facts'}, `${many(scene.freedoms, 'degree', 'degrees')} of freedom · ${many(scene.bodies.length - 1, 'body', 'bodies')} · ` +
              `${many(scene.clusters.filter((c) => c.constrained).length, 'tied cluster', 'tied clusters')} · ${scene.mass.toPrecision(4)} kg`)),
        this.gauge(), this.buttons(actions), this.extra,
        section('Coordinates', true, this.coordinates(actions)),
        section('Kinematic tree', false, this.kinematicTree()),
        section('Cluster tree', false, this.clusterTree()),
        section('Drawing', false, this.drawing()),
        ...scene.problems.map((p) => element('p', {class: 'problem'}, p)));
  }

  show(pose: Pose) {
    pose.values.forEach((value, i) => {
      if (!this.sliders[i]) return;
      if (i !== this.held) this.sliders[i].value = String(value);
      this.numbers[i].textContent = readable(value, this.scene.sliders[i].unit);
    });
    for (const {joint, out} of this.dependents) {
      const j = this.scene.joints[joint];
      out.textContent = readable(pose.q[j.q], j.unit);
      out.parentElement!.classList.toggle('over', pose.over.includes(j.name));
    }
    this.showClosure(pose.residual, pose.margin, pose.verdict, pose.words +
      (pose.over.length > 0 ? ` Beyond its limits: ${pose.over.join(', ')}.` : ''), pose.over.length > 0);
  }
  showClosure(residual: number | null, margin: number | null, verdict: string, words: string, warn = false) {
    // Four decades, of which the last is where nothing is wrong.
    const part = Math.max(0, Math.min(1, 1 + Math.log10(Math.max(margin ?? 0, 1e-9)) / 4));
    this.needle.style.left = `${100 * part}%`;
    this.margin.textContent = margin === null ? '–' : margin.toPrecision(3);
    this.residual.textContent = residual === null ? '–' : residual === 0 ? '0' : residual.toExponential(1);
    this.residual.dataset.value = String(residual);
    this.words.textContent = words;
    this.verdict.className = `verdict ${verdict !== 'closed' ? 'bad' : warn || (margin ?? 0) < 0.004 ? 'warn' : 'good'}`;
    this.verdict.dataset.verdict = verdict;
  }
  setSlider(i: number, value: number) {
    this.sliders[i].value = String(value);
    this.numbers[i].textContent = readable(value, this.scene.sliders[i].unit);
  }
  select(bodies: Set<number>) {
    this.robot.highlight(bodies);
    for (const [row, members] of this.rows) {
      row.classList.toggle('selected', [...members].some((b) => bodies.has(b)) && bodies.size > 0 &&
        [...members].every((b) => bodies.has(b)));
    }
  }

  private gauge() {
    this.verdict.append(
        element('div', {class: 'gauge', title: 'singularity margin: smallest over largest singular value of the loops'},
            this.needle),
        element('div', {class: 'pair'}, element('span', {}, 'margin ', this.margin),
            element('span', {}, 'residual ', this.residual)),
        this.words);
    return this.verdict;
  }

  private buttons(actions: Actions) {
    const row = element('div', {class: 'buttons'});
    if (actions.neutral) row.append(button('Neutral', 'neutral position', 'neutral', actions.neutral));
    if (actions.random) row.append(button('Random', 'a random position', 'random', actions.random));
    const loops = this.scene.clusters.map((c, i) => ({c, i})).filter(({c}) => c.variable);
    if (actions.branch && loops.length > 0) {
      const chosen = element('select', {id: 'branch-cluster', title: 'cluster'});
      for (const {c, i} of loops) chosen.append(element('option', {value: String(i)}, c.name));
      row.append(button('Other branch', 'another assembly at the same coordinates', 'branch',
          () => actions.branch!(Number(chosen.value))));
      if (loops.length > 1) row.append(chosen);
    }
    return row;
  }

  private coordinates(actions: Actions) {
    const out = element('div', {class: 'coordinates'});
    const s = this.scene;
    s.clusters.forEach((_, c) => {
      const own = s.sliders.map((slider, i) => ({slider, i})).filter(({slider}) => slider.cluster === c);
      if (own.length === 0) return;
      const group = element('div', {class: 'cluster'});
      group.style.borderColor = `#${clusterColor(s, c).getHexString()}`;
      for (const {slider, i} of own) {
        const input = element('input', {type: 'range', min: String(slider.lower), max: String(slider.upper),
          step: 'any', id: `slider-${i}`, 'aria-label': slider.name});
        const value = element('output', {});
        input.addEventListener('input', () => {
          this.held = i;
          actions.slide(i, Number(input.value));
        });
        input.addEventListener('change', () => { this.held = -1; });
        this.sliders[i] = input;
        this.numbers[i] = value;
        const label = element('label', {class: 'slider'}, element('span', {}, slider.name), value, input);
        label.title = slider.limited ? `limits ${readable(slider.lower, slider.unit)} to ${readable(slider.upper, slider.unit)}` :
          'no limits in the robot file';
        group.append(label);
      }
      s.joints.forEach((joint, j) => {
        if (!this.follow || joint.independent || joint.nq !== 1 || s.bodies[joint.body].cluster !== c) return;
        const value = element('output', {id: `dependent-${j}`});
        this.dependents.push({joint: j, out: value});
        group.append(element('div', {class: 'dependent'}, element('span', {}, joint.name), value));
      });
      out.append(group);
    });
    return out;
  }

  private row(label: string, note: string, depth: number, cluster: number, bodies: Set<number>) {
    const row = element('div', {class: 'row', style: `padding-left:${6 + 12 * depth}px`, tabindex: '0'},
        swatch(this.scene, cluster), element('span', {}, label), element('small', {}, note));
    this.rows.set(row, bodies);
    const press = () => {
      this.selected = this.selected === row ? null : row;
      this.select(this.selected ? bodies : new Set());
    };
    row.addEventListener('click', press);
    row.addEventListener('keydown', (e) => { if (e.key === 'Enter') press(); });
    return row;
  }
  private kinematicTree() {
    const out = element('div', {class: 'tree', id: 'kinematic-tree'});
    const s = this.scene;
    const add = (body: number, depth: number) => {
      const b = s.bodies[body], joint = s.joints[b.joint];
      const marks = [joint?.type, joint && !joint.independent ? 'dependent' : '', b.rotor ? 'rotor' : ''].filter(Boolean);
      out.append(this.row(b.name, body === 0 ? 'ground' : `${joint?.name ?? ''} · ${marks.join(', ')}`, depth,
          b.cluster, new Set([body])));
      s.bodies.forEach((child, i) => { if (child.parent === body) add(i, depth + 1); });
    };
    add(0, 0);
    return out;
  }
  private clusterTree() {
    const out = element('div', {class: 'tree', id: 'cluster-tree'});
    const s = this.scene;
    const add = (parent: number, depth: number) => s.clusters.forEach((c, i) => {
      if (c.parent !== parent) return;
      const note = c.constrained ?
        `${c.bodies.length} bodies, ${c.freedoms} free · ${c.recognised || c.constraints.join(', ')}` : '';
      const row = this.row(c.name, note, depth, i, new Set(c.bodies));
      row.title = c.constraints.join(', ');
      out.append(row);
      add(i, depth + 1);
    });
    add(-1, 0);
    return out;
  }
  private drawing() {
    const out = element('div', {class: 'layers'});
    const names: [Layer, string][] = [['shapes', 'Shapes of the robot file'], ['skeleton', 'Bars and joints'],
      ['inertia', 'Ellipsoids of inertia'], ['axes', 'Joint axes (blue, dashed: dependent)'], ['rotors', 'Rotors'],
      ['centres', 'Centres of mass'], ['frames', 'Frames']];
    for (const [layer, text] of names) {
      const box = element('input', {type: 'checkbox', id: `layer-${layer}`});
      box.checked = this.robot.layers[layer];
      box.addEventListener('change', () => this.robot.setLayer(layer, box.checked));
      out.append(element('label', {}, box, ` ${text}`));
    }
    if (this.robot.hasColors) {
      const box = element('input', {type: 'checkbox', id: 'cluster-colors'});
      const tied = this.scene.clusters.some((c) => c.constrained);
      box.checked = tied;
      this.robot.setColors(tied);
      box.addEventListener('change', () => this.robot.setColors(box.checked));
      out.append(element('label', {}, box, ' Clusters in colours'));
    }
    return out;
  }
}
