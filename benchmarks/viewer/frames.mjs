// Frames of the viewer where no GPU draws (SwiftShader), with the robot's sliders moving:
//   node frames.mjs ESPALIER VIEWER_BUILD ROBOT [--size WxH] [--seconds S] [--level K] [--picture NAME] [--script TEXT]
// with absolute paths; --level fixes how coarsely what moves is drawn, --picture writes NAME_moved.png and
// NAME_still.png, --script runs in the page before.
// Prints frames and poses a second, and processor time of a frame in Chromium's two processes that make it. Times of
// the clock mean something on an idle machine only; processor times on a busy one, too.
import {spawn} from 'node:child_process';
import {readFileSync, readdirSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {parseArgs} from 'node:util';

const {values: options, positionals: [program, build, robot]} = parseArgs({allowPositionals: true, options: {
  size: {type: 'string', default: '1280x800'}, seconds: {type: 'string', default: '6'},
  level: {type: 'string', default: ''}, picture: {type: 'string', default: ''}, script: {type: 'string', default: ''}}});
const [width, height] = options.size.split('x').map(Number);
const {chromium: driver} = createRequire(join(build, 'x.mjs'))('playwright-core');

/** Processor time [ms] of Chromium's processes below one, by their kind. */
function spent(root) {
  const below = new Set([root]), times = {};
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number).sort((a, b) => a - b);
  for (const id of processes) {
    try {
      const stat = readFileSync(`/proc/${id}/stat`, 'utf8').split(') ')[1].split(' ');
      if (!below.has(Number(stat[1])) && !below.has(id)) continue;
      below.add(id);
      const kind = /--type=([a-z-]+)/.exec(readFileSync(`/proc/${id}/cmdline`, 'utf8'))?.[1] ?? 'browser';
      times[kind] = (times[kind] ?? 0) + 10 * (Number(stat[11]) + Number(stat[12]));  // of 100 a second
    } catch { /* gone */ }
  }
  return times;
}

const child = spawn(program, ['view', robot, '--no-browser'], {stdio: ['ignore', 'pipe', 'inherit']});
const url = await new Promise((resolve, reject) => {
  child.stdout.once('data', (bytes) => resolve(String(bytes).trim()));
  child.once('exit', (code) => reject(new Error(`espalier view ended with ${code}`)));
});
const server = await driver.launchServer({executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-dev-shm-usage']});
const browser = await driver.connect(server.wsEndpoint());
try {
  const page = await (await browser.newContext({viewport: {width, height}})).newPage();
  page.on('pageerror', (e) => console.error(String(e)));
  await page.goto(url);
  await page.waitForFunction(() => window.espalier?.robot?.frames > 0 && window.espalier.connected, null, {polling: 50});
  if (options.script) await page.evaluate(options.script);
  const move = (seconds, level) => page.evaluate(async ([time, fixed]) => {
    const {robot, connection} = window.espalier;
    const inputs = [...document.querySelectorAll('#panel input[id^=slider-]')];
    const begin = performance.now(), before = robot.frames, asked = connection.next;
    let x = 0, longest = 0, last = begin, seen = before;
    while (performance.now() - begin < 1000 * time) {
      if (fixed !== '') Object.assign(robot.drawing.pace, {level: Number(fixed), take() {}});
      const input = inputs[Math.floor(x) % inputs.length];
      input.value = String(0.4 * Math.sin(x += 0.02));
      input.dispatchEvent(new Event('input'));
      await new Promise((r) => setTimeout(r, 10));
      if (robot.frames !== seen) {
        longest = Math.max(longest, performance.now() - last);
        last = performance.now(), seen = robot.frames;
      }
    }
    const passed = (performance.now() - begin) / 1000;
    return {passed, frames: robot.frames - before, poses: connection.next - asked, longest,
      level: robot.drawing.pace.level, ...robot.statistics()};
  }, [seconds, level]);
  await move(1.5, options.level);  // shaders are compiled
  const before = spent(server.process().pid);
  const told = await move(Number(options.seconds), options.level);
  const after = spent(server.process().pid);
  const each = (kind) => ((after[kind] - before[kind]) / told.frames).toFixed(1);
  console.log(`${width} x ${height}: ${(told.frames / told.passed).toFixed(1)} frames and ${(told.poses / told.passed).toFixed(1)} poses a second, ` +
    `longest ${told.longest.toFixed(0)} ms; processor time of a frame: GPU process ${each('gpu-process')} ms, page ${each('renderer')} ms, ` +
    `browser ${each('browser')} ms; level ${told.level}, ${told.calls} draw calls, ${told.triangles} triangles`);
  if (options.picture) {
    await page.screenshot({path: options.picture + '_moved.png'});
    await page.waitForTimeout(2500);
    await page.screenshot({path: options.picture + '_still.png'});
  }
} finally {
  await browser.close();
  await server.close();
  child.kill('SIGINT');
}
