/** Strip charts that move with the time. */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import {button, element} from './elements';
import {Rarely} from './pace';
import type {Answer, Scene} from './types';

const colors = ['#ffc857', '#6fb7ff', '#ff7a90', '#7ddf9b', '#c79bff', '#ff9f6b'];
const kept = 1500;  // points

/** About four round numbers between two, residuals of 1e-13 as well as forces of 1e6. */
export function roundNumbers(low: number, high: number): number[] {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [low];
  const power = 10 ** Math.floor(Math.log10(span / 4));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => span / s <= 4.5) ?? 10 * power;
  const out: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * span; ++k) out.push(k * step);
  return out;
}
function written(x: number): string {
  const plain = x === 0 || (Math.abs(x) < 1e5 && Math.abs(x) >= 1e-3);
  return plain ? String(Number(x.toPrecision(4))) : x.toExponential(1).replace('.0e', 'e');
}

export class Chart {
  private readonly plot: uPlot;
  private data: number[][];

  constructor(holder: HTMLElement, title: string, names: string[], width: number, height = 130) {
    this.data = [[], ...names.map(() => [] as number[])];
    const axis = {stroke: '#9aa7b8', grid: {stroke: '#2c3644', width: 1}, ticks: {stroke: '#2c3644'},
      font: '10px system-ui', size: 30};
    this.plot = new uPlot({
      title, width, height,
      cursor: {y: false, points: {size: 5}},
      legend: {live: false},
      scales: {x: {time: false}},
      axes: [{...axis, size: 24}, {...axis, size: 54,
        splits: (_, __, low, high) => roundNumbers(low, high), values: (_, splits) => splits.map(written)}],
      series: [{label: 't [s]'}, ...names.map((label, i) =>
        ({label, stroke: colors[i % colors.length], width: 1.5, points: {show: false}}))],
    }, this.data as uPlot.AlignedData, holder);
  }
  push(t: number, values: number[]) {
    const times = this.data[0];
    if (times.length > 0 && t < times[times.length - 1]) this.clear();
    if (times.length > 0 && t === times[times.length - 1]) return;
    this.data[0].push(t);
    values.forEach((v, i) => this.data[i + 1].push(v));
    if (this.data[0].length > kept) this.data = this.data.map((d) => d.slice(-kept * 0.8));
    this.drawn.ask(this.data);
  }
  set(data: number[][]) {
    this.data = data;
    this.drawn.ask(data, true);
  }
  /** What is not known is a gap. */
  private readonly drawn = new Rarely<number[][]>((data) => {
    this.plot.setData(data.map((d) => d.map((x) => Number.isFinite(x) ? x : null)) as uPlot.AlignedData);
  });
  /** Least and largest value that the chart shows; null before there is any. */
  get range(): (number | null | undefined)[] { return [this.plot.scales.y.min, this.plot.scales.y.max]; }
  clear() { this.set(this.data.map(() => [])); }
  /** Marks a time. */
  at(t: number) {
    this.plot.setCursor({left: this.plot.valToPos(t, 'x'), top: 10});
  }
  get points() { return this.data[0].length; }
  get latest() { return this.data.map((d) => d[d.length - 1]); }
  remove() {
    this.drawn.stop();
    this.plot.destroy();
  }
}

/** What a strip may show: a value, or several, of each answer. */
interface Quantity {
  key: string;
  group: string;
  name: string;
  series: string[];
  values(answer: Answer, scene: Scene): number[];
}

function quantities(scene: Scene): Quantity[] {
  const out: Quantity[] = [
    {key: 'energy', group: 'robot', name: 'energy [J]', series: ['kinetic', 'potential', 'total'],
      values: ({sample: s}) => s ? [s.kinetic, s.gravity + s.springs, s.energy] : []},
    {key: 'residual', group: 'robot', name: 'loop residual', series: ['residual'],
      values: (a) => [a.pose!.residual]},
    {key: 'margin', group: 'robot', name: 'singularity margin', series: ['margin'], values: (a) => [a.pose!.margin]},
  ];
  if (scene.compared) {
    out.push({key: 'difference', group: 'robot', name: 'difference of positions [rad, m]', series: ['difference'],
      values: (a) => [a.difference ?? 0]});
  }
  scene.sliders.forEach((s, i) => {
    const per = s.unit === 'm' ? ['m', 'm/s', 'N'] : s.unit === 'rad' ? ['rad', 'rad/s', 'N·m'] : ['', '', ''];
    out.push({key: `q ${s.name}`, group: 'position', name: `${s.name} [${per[0]}]`, series: ['q'],
      values: (a) => [a.pose!.values[i]]},
    {key: `v ${s.name}`, group: 'rate', name: `rate of ${s.name} [${per[1]}]`, series: ['v'],
      values: (a) => [a.sample!.v[i]]},
    {key: `tau ${s.name}`, group: 'force', name: `motor of ${s.name} [${per[2]}]`, series: ['tau'],
      values: (a) => [a.sample!.tau[i]]});
  });
  for (const j of scene.joints) {
    if (j.independent || j.nq !== 1) continue;
    out.push({key: `q ${j.name}`, group: 'dependent position', name: `${j.name} [${j.unit}]`, series: ['q'],
      values: (a) => [a.pose!.q[j.q]]});
  }
  return out;
}

/** Charts of a run, each of a quantity that its own list chooses; of two robots, both are drawn. */
export class Strips {
  private readonly strips: {chart: Chart; quantity: Quantity; other: Quantity | null; frame: HTMLElement}[] = [];
  private readonly all: Quantity[];
  private readonly others: Quantity[];

  constructor(private readonly holder: HTMLElement, private readonly scene: Scene, private readonly width: number,
      private readonly beside: Scene | null) {
    this.all = quantities(scene);
    this.others = beside ? quantities(beside) : [];
    const more = button('+ Chart', 'another chart', 'add-chart', () => this.add(this.all[0].key));
    holder.append(element('div', {class: 'buttons'}, more));
  }
  add(key: string) {
    const quantity = this.all.find((q) => q.key === key) ?? this.all[0];
    const frame = element('div', {class: 'strip'});
    const which = element('select', {class: 'charted', title: 'what is charted'});
    for (const group of new Set(this.all.map((q) => q.group))) {
      const box = element('optgroup', {label: group});
      for (const q of this.all) {
        if (q.group === group) box.append(element('option', {value: q.key}, q.name));
      }
      which.append(box);
    }
    which.value = quantity.key;
    const drop = button('×', 'remove this chart', '', () => this.remove(strip));
    frame.append(element('div', {class: 'buttons'}, which, drop));
    this.holder.insertBefore(frame, this.holder.lastElementChild);
    const strip = {...this.draw(frame, quantity), frame};
    which.addEventListener('change', () => {
      strip.chart.remove();
      Object.assign(strip, this.draw(frame, this.all.find((q) => q.key === which.value)!));
    });
    this.strips.push(strip);
    return strip;
  }
  push(answer: Answer) {
    if (!answer.sample || !answer.pose) return;
    for (const {chart, quantity, other} of this.strips) {
      const values = quantity.values(answer, this.scene);
      if (other && answer.other?.sample && answer.other.pose) {
        values.push(...other.values(answer.other, this.beside!));
      } else if (other) {
        values.push(...other.series.map(() => NaN));
      }
      chart.push(answer.sample.t, values);
    }
  }
  clear() { for (const {chart} of this.strips) chart.clear(); }
  get list() { return this.strips.map(({chart, quantity}) => ({key: quantity.key, chart})); }

  private draw(frame: HTMLElement, quantity: Quantity) {
    // What is common to both, the difference, is drawn once.
    const other = quantity.key === 'difference' ? null : this.others.find((q) => q.key === quantity.key) ?? null;
    const names = [...quantity.series, ...(other ? other.series.map((n) => `${n}, beside`) : [])];
    return {chart: new Chart(frame, '', names, this.width), quantity, other};
  }
  private remove(strip: (typeof this.strips)[number]) {
    strip.chart.remove();
    strip.frame.remove();
    this.strips.splice(this.strips.indexOf(strip), 1);
  }
}
