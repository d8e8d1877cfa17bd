/** Strip charts that move with the time. */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

const colors = ['#ffc857', '#6fb7ff', '#ff7a90', '#7ddf9b', '#c79bff', '#ff9f6b'];
const kept = 1500;  // points

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
      axes: [{...axis, size: 24}, {...axis, size: 46}],
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
    this.plot.setData(this.data as uPlot.AlignedData);
  }
  set(data: number[][]) {
    this.data = data;
    this.plot.setData(data as uPlot.AlignedData);
  }
  clear() { this.set(this.data.map(() => [])); }
  /** Marks a time. */
  at(t: number) {
    this.plot.setCursor({left: this.plot.valToPos(t, 'x'), top: 10});
  }
  get points() { return this.data[0].length; }
  get latest() { return this.data.map((d) => d[d.length - 1]); }
  remove() { this.plot.destroy(); }
}
