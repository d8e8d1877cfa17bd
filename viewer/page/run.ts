/** The simulation's part of the panel: what runs, how fast, and strip charts of it. */
import {Strips} from './charts';
import type {Connection} from './connection';
import {button, choices, element} from './elements';
import type {Answer, Scene} from './types';

export class RunPanel {
  readonly strips: Strips;
  playing = false;
  private readonly clock = element('output', {id: 'clock'}, '0.000 s');
  private readonly play: HTMLButtonElement;

  constructor(holder: HTMLElement, scene: Scene, width: number, beside: Scene | null, connection: Connection) {
    const speed = choices('speed', 'speed',
        ['0.05', '0.1', '0.25', '0.5', '1', '2'].map((x): [string, string] => [x, `× ${x}`]), '1');
    const step = choices('dt', 'step', [['0.0001', '0.1 ms'], ['0.0005', '0.5 ms'], ['0.001', '1 ms'], ['0.005', '5 ms']], '0.001');
    const algorithm = choices('algorithm', 'forward dynamics', scene.algorithms ?? [], scene.algorithm);
    const integrator = choices('integrator', 'integrator', scene.integrators ?? [], scene.integrator);
    const described: Record<string, string> = {none: 'no controller', gravity: 'motors bear the weight',
      hold: 'motors hold the position', file: 'controller file'};
    const controller = choices('controller', 'controller',
        (scene.controllers ?? ['none']).map((c): [string, string] => [c, described[c] ?? c]), scene.controller);
    const settings = () => ({speed: Number(speed.value), dt: Number(step.value), controller: controller.value,
      ...(algorithm.value ? {algorithm: algorithm.value} : {}),
      ...(integrator.value ? {integrator: integrator.value} : {})});
    this.play = button('▶ Play', 'let it move under gravity', 'play',
        () => connection.ask(this.playing ? {do: 'pause'} : {do: 'play', ...settings()}));
    const charts = element('div', {hidden: '', id: 'charts'});
    const reset = button('■ Rest', 'stop, rates are zero', 'rest', () => {
      connection.ask({do: 'rest'});
      this.strips.clear();
    });
    const once = button('❙▶ Step', 'one step', 'step', () => connection.ask({do: 'step', ...settings()}));
    for (const b of [this.play, once]) b.addEventListener('click', () => { charts.hidden = false; });
    for (const s of [speed, step, algorithm, integrator, controller]) {
      s.addEventListener('change', () => { if (this.playing) connection.ask({do: 'play', ...settings()}); });
    }
    holder.append(element('section', {class: 'simulation'},
        element('div', {class: 'buttons'}, this.play, once, reset, this.clock),
        element('div', {class: 'buttons'}, speed, step, algorithm, integrator, controller), charts));
    this.strips = new Strips(charts, scene, width, beside);
    this.strips.add('energy');
    this.strips.add(beside ? 'difference' : scene.sliders.length > 0 ? `q ${scene.sliders[0].name}` : 'residual');
  }

  take(answer: Answer) {
    this.strips.push(answer);
    this.clock.textContent = `${answer.sample!.t.toFixed(3)} s`;
  }
  setPlaying(now: boolean) {
    // A label that is written anew at every frame swallows clicks: its node goes between press and
    // release.
    if (now === this.playing) return;
    this.playing = now;
    this.play.textContent = now ? '❚❚ Pause' : '▶ Play';
    this.play.classList.toggle('on', now);
  }
}
