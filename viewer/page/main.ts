import * as THREE from 'three';
import './style.css';
import {Chart} from './charts';
import {Connection} from './connection';
import {Panel, button, element} from './panel';
import {blend, row, sweepAt} from './poses';
import {Robot, type MeshSource} from './robot';
import type {Answer, Exported, Motion, Pose, Scene} from './types';

const view = document.getElementById('view')!;
const holder = document.getElementById('panel')!;
const hover = document.getElementById('hover')!;
const banner = document.getElementById('banner')!;
const panelWidth = 330;

/** For tests, and for those who look under the bonnet. */
const page: Record<string, unknown> = {};
Object.assign(window, {espalier: page});

function say(text: string, bad = true) {
  banner.textContent = text;
  banner.hidden = text === '';
  banner.className = bad ? 'bad' : '';
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
    motion.bodies.forEach((b, i) => robot.setBody(b.body, at[i]));
    robot.settle();
    motion.values[k].forEach((v, i) => panel.setSlider(i, v + part * (motion.values[next][i] - v)));
    panel.showClosure(motion.residuals[k], motion.margins[k], 'closed', 'Recorded motion.');
    slider.value = String(time);
    clock.textContent = `${time.toFixed(2)} s of ${last.toFixed(2)} s`;
    chart.at(time);
    residual.at(time);
    Object.assign(page, {time});
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

/** A file that was exported: all it needs is inside. */
function offline(data: Exported) {
  const {scene} = data;
  const source: MeshSource = async (number) => {
    const text = data.meshes[number];
    return text === null ? null : Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
  };
  const robot = new Robot(view, scene, data.pose.bodies, source);
  const values = data.pose.values.slice();
  const panel = new Panel(holder, scene, robot, {
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
        panel.showClosure(null, null, 'out of reach', 'Out of reach: the loops do not close there.');
        return;
      }
      sweep.bodies.forEach((b, k) => robot.setBody(b.body, at.poses[k]));
      robot.settle();
      panel.showClosure(at.residual, at.margin, 'closed', 'Between sampled poses; residual of the samples.');
    },
  }, false);
  panel.show(data.pose);
  panel.status.textContent = 'file';
  nameOnHover(scene, robot, () => false);
  Object.assign(page, {robot, scene, panel, offline: true});
  if (data.motion) player(data.motion, scene, robot, panel);
  const [picture, azimuth, elevation, distance] = location.hash.slice(1).split(',');
  if (picture === 'picture') {
    document.body.classList.add('picture');
    window.dispatchEvent(new Event('resize'));
    if (distance) robot.look(Number(azimuth), Number(elevation), Number(distance));
  }
}

function live() {
  let robot: Robot | null = null, panel: Panel | null = null, scene: Scene | null = null;
  let pose: Pose | null = null, playing = false, seed = 1, held = false;
  let energy: Chart | null = null, strip: Chart | null = null;
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
  const url = new URL('socket', location.href);
  url.protocol = 'ws:';
  const connection = new Connection(url.href, take, (connected) => {
    document.body.classList.toggle('gone', !connected);
    if (panel) panel.status.textContent = connected ? 'live' : 'gone';
    say(connected ? '' : 'The server is gone. Trying to reach it again…');
    Object.assign(page, {connected});
  }, () => pose ? [{do: 'hello'}, {do: 'place', q: pose.q}] : [{do: 'hello'}]);

  function take(answer: Answer) {
    if (answer.scene && !robot && answer.pose) begin(answer.scene, answer.pose);
    if (answer.error) say(answer.error);
    else if (answer.notice) say(answer.notice, false);
    else if (answer.id !== undefined && connection.connected) say('');
    if (answer.playing !== undefined) setPlaying(answer.playing);
    if (answer.frame !== undefined) drawn = answer.frame;
    if (!answer.pose || !robot || !panel) return;
    pose = answer.pose;
    robot.setPose(pose.bodies);
    panel.show(pose);
    frames.push(performance.now());
    while (frames[0] < frames[frames.length - 1] - 1000) frames.shift();
    Object.assign(page, {pose, frames: frames.length, round: connection.round});
    const s = answer.sample;
    if (!s || !energy || !strip) return;
    energy.push(s.t, [s.kinetic, s.gravity + s.springs, s.energy]);
    strip.push(s.t, [pose.values[chosen()] ?? 0, s.v[chosen()] ?? 0]);
    clock.textContent = `${s.t.toFixed(3)} s`;
    Object.assign(page, {sample: s});
  }

  const clock = element('output', {id: 'clock'}, '0.000 s');
  const which = element('select', {id: 'charted', title: 'coordinate of the chart'});
  const chosen = () => Number(which.value) || 0;
  const speed = element('select', {id: 'speed', title: 'speed'});
  for (const [value, text] of [['0.05', '× 0.05'], ['0.1', '× 0.1'], ['0.25', '× 0.25'], ['0.5', '× 0.5'], ['1', '× 1'], ['2', '× 2']]) {
    speed.append(element('option', value === '1' ? {value, selected: ''} : {value}, text));
  }
  const algorithm = element('select', {id: 'algorithm', title: 'forward dynamics'});
  const integrator = element('select', {id: 'integrator', title: 'integrator'});
  const step = element('select', {id: 'dt', title: 'step'});
  for (const [value, text] of [['0.0001', '0.1 ms'], ['0.0005', '0.5 ms'], ['0.001', '1 ms'], ['0.005', '5 ms']]) {
    step.append(element('option', value === '0.001' ? {value, selected: ''} : {value}, text));
  }
  const settings = () => ({speed: Number(speed.value), dt: Number(step.value),
    ...(algorithm.value ? {algorithm: algorithm.value} : {}),
    ...(integrator.value ? {integrator: integrator.value} : {})});
  const run = button('▶ Play', 'let it move under gravity', 'play',
      () => connection.ask(playing ? {do: 'pause'} : {do: 'play', ...settings()}));
  function setPlaying(now: boolean) {
    // A label that is written anew at every frame swallows clicks: its node goes between press and
    // release.
    if (now === playing) return;
    playing = now;
    run.textContent = playing ? '❚❚ Pause' : '▶ Play';
    run.classList.toggle('on', playing);
    Object.assign(page, {playing});
  }

  function begin(received: Scene, first: Pose) {
    scene = received;
    robot = new Robot(view, scene, first.bodies, source);
    panel = new Panel(holder, scene, robot, {
      slide: (slider, value) => connection.ask({do: 'set', slider, value}, `set ${slider}`),
      neutral: () => connection.ask({do: 'neutral'}),
      random: () => connection.ask({do: 'random', seed: seed++}),
      branch: (cluster) => connection.ask({do: 'branch', cluster}),
    }, !received.motion);
    panel.status.textContent = 'live';
    document.title = `${scene.name} · Espalier`;
    for (const name of scene.algorithms ?? []) algorithm.append(element('option', {}, name));
    for (const name of scene.integrators ?? []) integrator.append(element('option', {}, name));
    algorithm.value = scene.algorithm ?? '', integrator.value = scene.integrator ?? '';
    scene.sliders.forEach((s, i) => which.append(element('option', {value: String(i)}, s.name)));
    if (scene.motion) {
      player(scene.motion, scene, robot, panel);
    } else if ((scene.algorithms ?? []).length > 0) {
      const charts = element('div', {hidden: ''});
      const reset = button('■ Rest', 'stop, rates are zero', 'rest', () => {
        connection.ask({do: 'rest'});
        energy?.clear();
        strip?.clear();
      });
      const once = button('❙▶ Step', 'one step', 'step', () => connection.ask({do: 'step', ...settings()}));
      for (const b of [run, once]) b.addEventListener('click', () => { charts.hidden = false; });
      for (const s of [speed, step, algorithm, integrator]) {
        s.addEventListener('change', () => { if (playing) connection.ask({do: 'play', ...settings()}); });
      }
      panel.extra.append(element('section', {class: 'simulation'},
          element('div', {class: 'buttons'}, run, once, reset, clock),
          element('div', {class: 'buttons'}, speed, step, algorithm, integrator), charts));
      energy = new Chart(charts, 'energy [J]', ['kinetic', 'potential', 'total'], panelWidth - 30);
      charts.append(which);
      strip = new Chart(charts, 'coordinate', ['q', 'v'], panelWidth - 30);
      which.addEventListener('change', () => strip?.clear());
    }
    nameOnHover(scene, robot, () => held);
    pulling(robot, scene);
    Object.assign(page, {robot, scene, panel, energy, strip, connection});
  }

  /** A link under the mouse is pulled; elsewhere the mouse turns the view. */
  function pulling(r: Robot, s: Scene) {
    let link = -1, through = new THREE.Vector3(), point = new THREE.Vector3();
    r.canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0 || event.shiftKey) return;
      const hit = r.pick(event);
      if (!hit || hit.body === 0 || hit.link < 0) return;
      held = true, link = hit.link, through = hit.point.clone(), point = r.toLink(link, hit.point);
      r.controls.enabled = false;
      r.canvas.setPointerCapture(event.pointerId);
      hover.hidden = true;
      r.canvas.style.cursor = 'grabbing';
    }, {capture: true});
    r.canvas.addEventListener('pointermove', (event) => {
      if (!held) return;
      const target = r.inPlane(event, through);
      if (!target) return;
      r.rubber(r.fromLink(link, point), target);
      connection.ask({do: 'drag', link, point: point.toArray(), target: target.toArray()});
    });
    const release = () => {
      held = false;
      r.controls.enabled = true;
      r.canvas.style.cursor = '';
      r.rubber(null);
    };
    r.canvas.addEventListener('pointerup', release);
    r.canvas.addEventListener('pointercancel', release);
    void s;
  }
}

const data = document.getElementById('data')!.textContent ?? '';
if (data.trim() === '') live();
else offline(JSON.parse(data) as Exported);
