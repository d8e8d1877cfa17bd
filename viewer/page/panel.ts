/** The side panel: verdict, sliders, simulation, trees. */
import {button, element, section, write} from './elements';
import {Rarely} from './pace';
import {clusterColor} from './scene/paint';
import type {Robot} from './scene/robot';
import type {Layer} from './scene/skeleton';
import type {Pose, Scene} from './types';

function swatch(scene: Scene, cluster: number) {
  return element('i', {class: 'swatch', style: `background:#${clusterColor(scene, cluster).getHexString()}`});
}
/** Without a minus before what rounds to zero. */
const fixed = (x: number, digits: number) => x.toFixed(digits).replace(/^-(0(\.0*)?)$/, '$1');
const readable = (x: number, unit: string) =>
  unit === 'rad' ? `${fixed(x * 180 / Math.PI, 1)}°` : unit === 'm' ? `${fixed(x * 1000, 1)} mm` : fixed(x, 3);
/** "leg.hip.rotor1+leg.hip.rotor2" is "leg.hip: rotor1 + rotor2". */
function shortened(name: string) {
  const parts = name.split('+'), unit = parts[0].slice(0, parts[0].lastIndexOf('.') + 1);
  if (parts.length === 1) return name;
  if (unit === '' || !parts.every((p) => p.startsWith(unit))) return parts.join(' + ');
  return `${unit.slice(0, -1)}: ${parts.map((p) => p.slice(unit.length)).join(' + ')}`;
}

const many = (n: number, one: string, more: string) => `${n} ${n === 1 ? one : more}`;

export interface Actions {
  slide(slider: number, value: number): void;
  /** Brings all that is drawn into view. */
  fit(): void;
  neutral?(): void;
  random?(): void;
  branch?(cluster: number): void;
  /** Makes a dependent joint independent; '': those that do best here. */
  coordinates?(cluster: number, joint: string): void;
  show?(reactions: boolean, strength: number): void;
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
  private readonly branch = element('span', {id: 'branch-shown'});
  private readonly forceWords = element('p', {id: 'force-words'});
  private readonly verdict = element('section', {class: 'verdict', id: 'verdict'});
  private readonly rows = new Map<HTMLElement, Set<number>>();
  private selected: HTMLElement | null = null;
  private held = -1;  // slider under the hand

  /** @param follow  whether poses come with all coordinates, dependent ones too */
  constructor(holder: HTMLElement, private readonly scene: Scene, private readonly robot: Robot,
      private readonly actions: Actions, private readonly follow: boolean) {
    holder.replaceChildren(
        element('header', {}, element('h1', {}, scene.name || 'robot'), this.status,
            element('p', {class: 'facts'}, `${many(scene.freedoms, 'degree', 'degrees')} of freedom · ${many(scene.bodies.length - 1, 'body', 'bodies')} · ` +
              `${many(scene.clusters.filter((c) => c.constrained).length, 'tied cluster', 'tied clusters')} · ${scene.mass.toPrecision(4)} kg`)),
        this.gauge(), this.buttons(actions), this.extra,
        section('Coordinates', true, this.coordinates(actions)),
        section('Kinematic tree', false, this.kinematicTree()),
        section('Cluster tree', false, this.clusterTree()),
        section('Subsystem graph', false, this.subsystemGraph()),
        ...(actions.show ? [section('Forces', false, this.forces(actions.show))] : []),
        section('Drawing', false, this.drawing()),
        ...scene.problems.map((p) => element('p', {class: 'problem'}, p)));
  }

  /** A verdict is shown at once, numbers as often as the page keeps up with. */
  show(pose: Pose) {
    const changed = pose.verdict !== this.verdict.dataset.verdict || (pose.branch ?? '') !== this.shownBranch;
    this.shown.ask(pose, changed);
  }
  private readonly shown = new Rarely<Pose>((pose) => this.write(pose));
  private shownBranch = '';
  private write(pose: Pose) {
    pose.values.forEach((value, i) => {
      if (this.sliders[i]) this.setSlider(i, value);
    });
    for (const {joint, out} of this.dependents) {
      const j = this.scene.joints[joint];
      write(out, readable(pose.q[j.q], j.unit));
      out.parentElement!.classList.toggle('over', pose.over.includes(j.name));
    }
    this.showForceWords(pose);
    if ((pose.branch ?? '') !== this.shownBranch) {
      this.shownBranch = pose.branch ?? '';
      this.branch.replaceChildren(...(pose.branch ? ['branch ', element('b', {}, pose.branch)] : []));
    }
    this.showClosure(pose.residual, pose.margin, pose.ease, pose.verdict, pose.words +
      (pose.over.length > 0 ? ` Beyond its limits: ${pose.over.join(', ')}.` : ''), pose.over.length > 0);
  }
  /** @param ease  the margin as a part of what is usual */
  showClosure(residual: number | null, margin: number | null, ease: number | null, verdict: string, words: string,
      warn = false) {
    // Three decades below what is usual.
    const part = Math.max(0, Math.min(1, 1 + Math.log10(Math.max(ease ?? 0, 1e-9)) / 3));
    this.needle.style.left = `${100 * part}%`;
    write(this.margin, margin === null ? '–' : margin.toPrecision(3));
    write(this.residual, residual === null ? '–' : residual === 0 ? '0' : residual.toExponential(1));
    this.residual.dataset.value = String(residual);
    write(this.words, words);
    const color = verdict !== 'closed' ? 'bad' : warn || (ease ?? 0) < 0.05 ? 'warn' : 'good';
    if (!this.verdict.classList.contains(color)) this.verdict.className = `verdict ${color}`;
    this.verdict.dataset.verdict = verdict;
  }
  setSlider(i: number, value: number) {
    if (i !== this.held && Number(this.sliders[i].value) !== value) this.sliders[i].value = String(value);
    write(this.numbers[i], readable(value, this.scene.sliders[i].unit));
  }
  select(bodies: Set<number>) {
    this.robot.highlight(bodies);
    for (const [row, members] of this.rows) {
      const shared = [...members].filter((b) => bodies.has(b)).length;
      row.classList.toggle('selected', shared > 0 && shared === members.size);
      row.classList.toggle('within', shared > 0 && shared < members.size);
    }
  }
  value(i: number) { return Number(this.sliders[i].value); }
  /** As if the slider was moved. */
  slide(i: number, value: number) {
    this.sliders[i].value = String(value);
    this.actions.slide(i, Number(this.sliders[i].value));
  }
  /** A slider that the file has no poses for. */
  disable(i: number) { this.sliders[i].disabled = true; }

  private forces(show: (reactions: boolean, strength: number) => void) {
    const reactions = element('input', {type: 'checkbox', id: 'show-reactions'});
    const strength = element('select', {id: 'strength', title: 'link at which motors push'});
    strength.append(element('option', {value: '-1'}, 'nowhere'));
    this.scene.links.forEach((link, i) => {
      if (link.body !== 0) strength.append(element('option', {value: String(i)}, link.name));
    });
    const ask = () => show(reactions.checked, Number(strength.value));
    reactions.addEventListener('change', ask);
    strength.addEventListener('change', ask);
    return element('div', {class: 'layers'},
        element('label', {}, reactions, ' Joint reactions; bars in ', element('b', {class: 'tension'}, 'tension'), ' and ',
            element('b', {class: 'compression'}, 'compression')),
        element('label', {}, 'What motors can push at ', strength), this.forceWords);
  }
  private showForceWords(pose: Pose) {
    const words = [
      pose.forces_problem ?? '',
      pose.reactions ? `Longest arrow: ${this.robot.forces.largest.toPrecision(3)} N.` : '',
      pose.reactions?.joints.some((j) => !j.determined) ? 'Grey: not determined by the motion alone.' : '',
      pose.strength?.words ?? ''];
    write(this.forceWords, words.filter(Boolean).join(' '));
  }

  private gauge() {
    this.verdict.append(
        element('div', {class: 'gauge', title: 'singularity margin of the loop that is nearest to a dead point, over three decades ' +
          'below what is usual for it; the number is the smallest over the largest singular value'}, this.needle),
        element('div', {class: 'pair'}, element('span', {}, 'margin ', this.margin),
            this.branch, element('span', {}, 'residual ', this.residual)),
        this.words);
    return this.verdict;
  }

  private buttons(actions: Actions) {
    const row = element('div', {class: 'buttons'});
    const fit = button('Fit view', 'bring the whole robot into view (key F)', 'fit', actions.fit);
    if (actions.neutral) row.append(button('Neutral', 'neutral position', 'neutral', actions.neutral));
    if (actions.random) row.append(button('Random', 'a random position', 'random', actions.random));
    const loops = this.scene.clusters.map((c, i) => ({c, i})).filter(({c}) => c.variable);
    if (actions.branch && loops.length > 0) {
      const chosen = element('select', {id: 'branch-cluster', title: 'cluster'});
      for (const {c, i} of loops) chosen.append(element('option', {value: String(i)}, shortened(c.name)));
      row.append(button('Other branch', 'another assembly at the same coordinates', 'branch',
          () => actions.branch!(Number(chosen.value))));
      if (actions.coordinates) {
        row.append(button('Best coordinates', 'independent coordinates that determine the others best here', 'best',
            () => actions.coordinates!(Number(chosen.value), '')));
      }
      row.append(fit);
      if (loops.length > 1) row.append(chosen);
    } else {
      row.append(fit);
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
          step: 'any', id: `slider-${i}`, 'aria-label': slider.label});
        const value = element('output', {});
        input.addEventListener('input', () => {
          this.held = i;
          actions.slide(i, Number(input.value));
        });
        input.addEventListener('change', () => { this.held = -1; });
        this.sliders[i] = input;
        this.numbers[i] = value;
        const label = element('label', {class: 'slider'}, element('span', {}, slider.label), value, input);
        label.title = slider.limited ? `limits ${readable(slider.lower, slider.unit)} to ${readable(slider.upper, slider.unit)}` :
          'no limits in the robot file';
        group.append(label);
      }
      s.joints.forEach((joint, j) => {
        if (!this.follow || joint.independent || joint.nq !== 1 || s.bodies[joint.body].cluster !== c) return;
        const value = element('output', {id: `dependent-${j}`});
        this.dependents.push({joint: j, out: value});
        const row = element('div', {class: 'dependent'}, element('span', {}, joint.name), value);
        if (actions.coordinates) {
          row.append(button('⇄', `move ${joint.name} by a slider`, `exchange-${j}`,
              () => actions.coordinates!(c, joint.name)));
        }
        group.append(row);
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
      const marks = [joint?.type, joint && !joint.independent ? 'dependent' : '', this.robot.isRotor(body) ? 'rotor' : ''].filter(Boolean);
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
      const row = this.row(shortened(c.name), note, depth, i, new Set(c.bodies));
      row.title = [c.name, ...c.constraints].join(', ');
      out.append(row);
      add(i, depth + 1);
    });
    add(-1, 0);
    return out;
  }
  /** The units along their connections, which make a tree; what closes cycles stands beside. */
  private subsystemGraph() {
    const out = element('div', {class: 'tree', id: 'subsystem-graph'});
    const {nodes, edges} = this.scene.subsystems;
    const add = (unit: number, depth: number, ports: string[]) => {
      const node = nodes[unit];
      const closures = edges.filter((e) => e.kind === 'closure' && (e.from === unit || e.to === unit))
          .map((e) => `closes ${e.ports.join(' – ')}`);
      const cluster = this.scene.bodies[node.bodies.find((b) => b > 0) ?? 0].cluster;
      const row = this.row(node.name, [node.type, ...closures].filter(Boolean).join(' · '), depth, cluster,
          new Set(node.bodies));
      row.title = ports.join(' – ');
      out.append(row);
      for (const e of edges) if (e.kind !== 'closure' && e.from === unit) add(e.to, depth + 1, e.ports);
    };
    nodes.forEach((_, unit) => {
      if (!edges.some((e) => e.kind !== 'closure' && e.to === unit)) add(unit, 0, []);
    });
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
    if (this.robot.hasShapes) {
      const box = element('input', {type: 'checkbox', id: 'see-through'});
      box.checked = this.robot.seeThrough;
      box.addEventListener('change', () => {
        this.robot.setSeeThrough(box.checked);
        const bars = out.querySelector<HTMLInputElement>('#layer-skeleton')!;
        if (bars.checked !== box.checked) bars.click();
      });
      out.append(element('label', {}, box, ' See through shapes: rotors, rods and joints inside'));
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
