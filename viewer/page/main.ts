import * as THREE from 'three';
import './style.css';
import {Chart} from './charts';
import {Connection} from './connection';
import {button, element} from './elements';
import {Panel} from './panel';
import {blend, row, sweepAt} from './poses';
import {Robot} from './scene/robot';
import {RunPanel} from './run';
import type {MeshSource} from './scene/shapes';
import type {Answer, Exported, Motion, Pose, Scene, Sweep} from './types';

const view = document.getElementById('view')!;
const holder = document.getElementById('panel')!;
const hover = document.getElementById('hover')!;
const banner = document.getElementById('banner')!;
const panelWidth = 330;

/** For tests, and for those who look under the bonnet. */
const page: Record<string, unknown> = {};
Object.assign(window, {espalier: page});

let broken = '';  // what ended the page, if something has: nothing else is told then
function say(text: string, bad = true) {
  banner.textContent = broken || text;
  banner.hidden = banner.textContent === '';
  banner.className = bad || broken ? 'bad' : '';
}
window.addEventListener('error', ({error}) => { if (error instanceof Error) say(broken = error.message); });

/** Where a robot is drawn; a second one stands beside the first. */
function pane(title = '') {
  const out = element('div', {class: 'pane'}, ...(title ? [element('h2', {}, title)] : []));
  view.insertBefore(out, hover);
  return out;
}

function nameOnHover(scene: Scene, robot: Robot, occupied: () => boolean) {
  robot.canvas.addEventListener('pointermove', (event) => {
    const hit = occupied() ? null : robot.pick(event);
    hover.hidden = hit === null;
    robot.canvas.style.cursor = hit && hit.body !== 0 ? 'grab' : '';
    if (!hit) return;
    const body = scene.bodies[hit.body], joint = scene.joints[body.joint];
    const cluster = scene.clusters[body.cluster];
    hover.replaceChildren(
        element('b', {}, scene.links[hit.link]?.name ?? body.name),
        ...(joint ? [element('div', {}, `${joint.name}: ${joint.type}${joint.independent ? '' : ', dependent'}${body.rotor ? ', rotor' : ''}`)] : []),
        ...(cluster?.constrained ? [element('div', {}, `tied by ${cluster.constraints.join(', ')}`)] : []));
    hover.style.left = `${event.clientX + 14}px`;
    hover.style.top = `${event.clientY + 12}px`;
  });
  robot.canvas.addEventListener('pointerleave', () => { hover.hidden = true; });
}

/** What a margin is of the largest among samples. */
function partOfUsual(margin: number, among: (number | null)[]) {
  const most = among.reduce<number>((m, x) => Math.max(m, x ?? 0), 0);
  return most > 0 ? margin / most : 1;
}

/** Plays a motion: of an exported file, or of `view --trajectory`. */
function player(motion: Motion, scene: Scene, robot: Robot, panel: Panel) {
  const times = motion.times, first = times[0], last = times[times.length - 1];
  const slider = element('input', {type: 'range', min: String(first), max: String(last), step: 'any', id: 'time',
    'aria-label': 'time'});
  const clock = element('output', {id: 'clock'});
  const charts = element('div');
  let time = first, playing = false, before = 0;
  const play = button('▶ Play', 'play the motion', 'play', () => {
    playing = !playing;
    if (playing && time >= last) time = first;
    before = performance.now();
    play.textContent = playing ? '❚❚ Pause' : '▶ Play';
  });
  panel.extra.append(element('section', {class: 'simulation'},
      element('div', {class: 'buttons'}, play, clock), slider, charts));
  const energies = motion.columns.map((name, i) => ({name, i}))
      .filter(({name}) => ['kinetic', 'gravity', 'springs', 'energy'].includes(name));
  const chart = new Chart(charts, 'energy [J]', energies.map((e) => e.name), panelWidth - 30);
  chart.set([times, ...energies.map(({i}) => motion.charts.map((r) => r[i]))]);
  const residual = new Chart(charts, 'loop residual', ['residual'], panelWidth - 30, 100);
  residual.set([times, motion.residuals]);
  const show = () => {
    let k = 0;
    while (k < times.length - 2 && times[k + 1] <= time) ++k;
    const next = Math.min(k + 1, times.length - 1), span = times[next] - times[k];
    const part = span > 0 ? Math.max(0, Math.min(1, (time - times[k]) / span)) : 0;
    const at = blend(row(motion, k)!, row(motion, next)!, part);
    robot.setBodies(motion.bodies, at);
    motion.values[k].forEach((v, i) => panel.setSlider(i, v + part * (motion.values[next][i] - v)));
    panel.showClosure(motion.residuals[k], motion.margins[k], partOfUsual(motion.margins[k], motion.margins), 'closed',
        'Recorded motion.');
    robot.follow();
    slider.value = String(time);
    clock.textContent = `${time.toFixed(2)} s of ${last.toFixed(2)} s`;
    chart.at(time);
    residual.at(time);
    Object.assign(page, {time, charts: [chart, residual]});
  };
  slider.addEventListener('input', () => { time = Number(slider.value); show(); });
  const loop = (now: number) => {
    requestAnimationFrame(loop);
    if (!playing) return;
    time += (now - before) / 1000;
    before = now;
    if (time >= last) {
      time = last, playing = false;
      play.textContent = '▶ Play';
    }
    show();
  };
  requestAnimationFrame(loop);
  show();
  void scene;
}

/** Moves a coordinate to and fro through what was sampled, and charts it over the coordinate. */
function sweeper(sweep: Sweep, scene: Scene, panel: Panel) {
  const which = sweep.sliders[0], info = scene.sliders[which], last = sweep.samples - 1;
  const at = (k: number) => info.lower + (info.upper - info.lower) * k / last;
  const there = sweep.rows.map((r, k) => r ? k : -1).filter((k) => k >= 0);
  if (there.length === 0) return;
  const first = at(there[0]), end = at(there[there.length - 1]);
  const charts = element('div');
  let playing = false, before = 0, way = 1;
  const play = button('▶ Play', 'move it through its range', 'play', () => {
    playing = !playing;
    before = performance.now();
    play.textContent = playing ? '❚❚ Pause' : '▶ Play';
  });
  panel.extra.append(element('section', {class: 'simulation'}, element('div', {class: 'buttons'}, play,
      element('output', {id: 'clock'}, info.name)), charts));
  const margin = new Chart(charts, `singularity margin over ${info.name}`, ['margin'], panelWidth - 30);
  margin.set([sweep.rows.map((_, k) => at(k)), sweep.margins.map((m) => m ?? NaN)]);
  const residual = new Chart(charts, 'loop residual', ['residual'], panelWidth - 30, 100);
  residual.set([sweep.rows.map((_, k) => at(k)), sweep.residuals.map((r) => r ?? NaN)]);
  const loop = (now: number) => {
    requestAnimationFrame(loop);
    if (!playing) return;
    // Eight seconds from end to end.
    let value = panel.value(which) + way * (end - first) * (now - before) / 8000;
    before = now;
    if (value >= end) way = -1;
    if (value <= first) way = 1;
    value = Math.max(first, Math.min(end, value));
    panel.slide(which, value);
    margin.at(value);
    residual.at(value);
    Object.assign(page, {swept: value, charts: [margin, residual]});
  };
  requestAnimationFrame(loop);
}

function onKeyF(fit: () => void) {
  window.addEventListener('keydown', (event) => {
    const typing = event.target instanceof HTMLSelectElement;
    if (event.key === 'f' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) fit();
  });
}

/** A file that was exported: all it needs is inside. */
function offline(data: Exported) {
  const {scene} = data;
  const source: MeshSource = async (number) => {
    const text = data.meshes[number];
    return text === null ? null : Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
  };
  const robot = new Robot(pane(), scene, data.pose.bodies, source);
  const values = data.pose.values.slice();
  onKeyF(() => robot.fit());
  const panel = new Panel(holder, scene, robot, {
    fit: () => robot.fit(),
    slide(i, value) {
      if (data.motion) return;
      const sweep = data.sweeps?.find((s) => s.sliders.includes(i));
      if (!sweep) return;
      values[i] = value;
      const places = sweep.sliders.map((k) => {
        const s = scene.sliders[k];
        return Math.max(0, Math.min(sweep.samples - 1, (values[k] - s.lower) / (s.upper - s.lower) * (sweep.samples - 1)));
      });
      const at = sweepAt(sweep, places);
      panel.setSlider(i, value);
      if (!at) {
        panel.showClosure(null, null, null, 'out of reach', 'Out of reach: the loops do not close there.');
        return;
      }
      robot.setBodies(sweep.bodies, at.poses);
      panel.showClosure(at.residual, at.margin, partOfUsual(at.margin, sweep.margins), 'closed', 'Between sampled poses; residual of the samples.');
    },
  }, false);
  panel.show(data.pose);
  panel.status.textContent = 'file';
  nameOnHover(scene, robot, () => false);
  Object.assign(page, {robot, scene, panel, offline: true});
  if (data.motion) {
    player(data.motion, scene, robot, panel);
  } else {
    scene.sliders.forEach((_, i) => {
      if (!data.sweeps?.some((s) => s.sliders.includes(i))) panel.disable(i);
    });
    if (data.sweep !== undefined) sweeper(data.sweeps![0], scene, panel);
  }
  const [picture, azimuth, elevation, distance] = location.hash.slice(1).split(',');
  if (picture === 'picture') {
    document.body.classList.add('picture');
    window.dispatchEvent(new Event('resize'));
    if (distance) robot.look(Number(azimuth), Number(elevation), Number(distance));
  }
}

function live() {
  let robot: Robot | null = null, panel: Panel | null = null, run: RunPanel | null = null;
  let beside: Robot | null = null, besideScene: Scene | null = null;
  let pose: Pose | null = null, seed = 1, held = false;
  let jumped = false;  // whether the next pose is far from the last
  const fit = () => {
    robot?.fit(beside ?? undefined);
    if (robot && beside) beside.lookAs(robot);
  };
  onKeyF(fit);
  const frames: number[] = [];
  // The server goes on when a frame was drawn: one that sends faster than this machine draws would
  // leave no time for anything else, clicks on Pause included.
  let drawn = 0, told = 0;
  const tellDrawn = () => {
    requestAnimationFrame(tellDrawn);
    if (drawn === told) return;
    connection.tell({do: 'seen', frame: drawn});
    told = drawn;
  };
  requestAnimationFrame(tellDrawn);

  const source: MeshSource = async (number) => {
    const answer = await fetch(`mesh/${number}`);
    return answer.ok ? answer.arrayBuffer() : null;
  };
  const sourceBeside: MeshSource = async (number) => {
    const answer = await fetch(`mesh/beside/${number}`);
    return answer.ok ? answer.arrayBuffer() : null;
  };
  const url = new URL('socket', location.href);
  url.protocol = 'ws:';
  const connection = new Connection(url.href, take, (connected) => {
    document.body.classList.toggle('gone', !connected);
    if (panel) panel.status.textContent = connected ? 'live' : 'gone';
    say(connected ? '' : 'The server is gone. Trying to reach it again…');
    Object.assign(page, {connected});
  }, () => pose ? [{do: 'hello'}, {do: 'place', q: pose.q}] : [{do: 'hello'}]);

  function take(answer: Answer) {
    if (answer.scene && answer.pose) begin(answer.scene, answer.pose, answer.other);
    if (answer.error) say(answer.error);
    else if (answer.notice) say(answer.notice, false);
    else if (answer.other?.error) say(`Beside: ${answer.other.error}`);
    else if (answer.id !== undefined && connection.connected) say('');
    if (answer.playing !== undefined) run?.setPlaying(answer.playing);
    Object.assign(page, {playing: run?.playing ?? false});
    if (answer.frame !== undefined) drawn = answer.frame;
    if (!answer.pose || !robot || !panel) return;
    pose = answer.pose;
    robot.setPose(pose.bodies);
    robot.showForces(pose.reactions, pose.strength);
    panel.show(pose);
    if (beside && answer.other?.pose) {
      beside.setPose(answer.other.pose.bodies);
      beside.showForces(answer.other.pose.reactions, answer.other.pose.strength);
    }
    if (jumped && !robot.inView) fit();
    jumped = false;
    if (answer.playing) robot.follow();
    frames.push(performance.now());
    while (frames[0] < frames[frames.length - 1] - 1000) frames.shift();
    Object.assign(page, {pose, frames: frames.length, round: connection.round, other: answer.other,
      difference: answer.difference});
    if (!answer.sample) return;
    run?.take(answer);
    Object.assign(page, {sample: answer.sample});
  }

  /** The first scene, that of a server that came back, or one with other coordinates. */
  function begin(scene: Scene, first: Pose, other?: Answer) {
    // A page that meets its own robot again keeps what it shows.
    const same = robot !== null && JSON.stringify(robot.scene) === JSON.stringify(scene);
    if (same) return;
    const before = robot;
    // Of one robot twice, what differs is the algorithm.
    const alike = other?.scene?.name === scene.name;
    const titles = [scene, other?.scene].map((s) => s && scene.compared ? `${s.name}${alike ? `, ${s.algorithm}` : ''}` : '');
    robot = new Robot(before ? before.container : pane(titles[0]), scene, first.bodies, source);
    if (before) {
      robot.lookAs(before);
      before.dispose();
    }
    if (other?.scene && other.pose && !beside) {
      besideScene = other.scene;
      document.body.classList.add('beside');
      beside = new Robot(pane(titles[1]), other.scene, other.pose.bodies, sourceBeside);
      beside.controls.addEventListener('change', () => robot!.lookAs(beside!));
    }
    if (beside) {
      const left = robot, right = beside;
      left.controls.addEventListener('change', () => right.lookAs(left));
      if (!before) left.fit(right);
      right.lookAs(left);
    }
    panel = new Panel(holder, scene, robot, {
      slide: (slider, value) => connection.ask({do: 'set', slider, value}, `set ${slider}`),
      fit,
      neutral: () => { jumped = true; connection.ask({do: 'neutral'}); },
      random: () => { jumped = true; connection.ask({do: 'random', seed: seed++}); },
      branch: (cluster) => { jumped = true; connection.ask({do: 'branch', cluster}); },
      coordinates: (cluster, joint) => connection.ask({do: 'coordinates', cluster, ...(joint ? {joint} : {})}),
      show: (reactions, strength) => connection.ask({do: 'show', reactions, strength}),
    }, !scene.motion);
    panel.status.textContent = connection.connected ? 'live' : 'gone';
    document.title = `${scene.name} · Espalier`;
    run = null;
    if (scene.motion) {
      player(scene.motion, scene, robot, panel);
    } else if ((scene.algorithms ?? []).length > 0) {
      run = new RunPanel(panel.extra, scene, panelWidth - 30, besideScene, connection);
    }
    if (!before) view.append(element('p', {class: 'hint'}, 'Pull a link with the mouse. Beside it: turn the view; right button: shift it.'));
    nameOnHover(scene, robot, () => held);
    pulling(robot, panel);
    Object.assign(page, {robot, beside, scene, panel, run, connection, energy: run?.strips.list[0].chart});
  }

  /** A link under the mouse is pulled; elsewhere the mouse turns the view. */
  function pulling(r: Robot, p: Panel) {
    let moved = false, body = -1, link = -1, through = new THREE.Vector3(), point = new THREE.Vector3();
    r.canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0 || event.shiftKey) return;
      const hit = r.pick(event);
      if (!hit || hit.body === 0 || hit.link < 0) return;
      held = true, moved = false, body = hit.body, link = hit.link, through = hit.point.clone(), point = r.toLink(link, hit.point);
      r.controls.enabled = false;
      r.canvas.setPointerCapture(event.pointerId);
      hover.hidden = true;
      r.canvas.style.cursor = 'grabbing';
    }, {capture: true});
    r.canvas.addEventListener('pointermove', (event) => {
      if (!held) return;
      const target = r.inPlane(event, through);
      if (!target) return;
      moved = true;
      r.rubber(r.fromLink(link, point), target);
      connection.ask({do: 'drag', link, point: point.toArray(), target: target.toArray()});
    });
    const release = () => {
      held = false;
      r.controls.enabled = true;
      r.canvas.style.cursor = '';
      r.rubber(null);
    };
    r.canvas.addEventListener('pointerup', () => {
      if (held && !moved) p.select(new Set([body]));  // a click selects
      release();
    });
    r.canvas.addEventListener('pointercancel', release);
  }
}

const data = document.getElementById('data')!.textContent ?? '';
if (data.trim() === '') live();
else offline(JSON.parse(data) as Exported);
