// The viewer in a real browser:
//   node browser_test.mjs ESPALIER SOURCE VIEWER_BUILD [PICTURES [PART]]
// PICTURES is a folder for screenshots; tests whose name holds PART run, without it all. Exits with 1 if a test fails,
// or if there is no Chromium to run them in.
import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import {accessSync, constants, mkdirSync, mkdtempSync, rmSync, statSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {delimiter, join} from 'node:path';
import {panelTests} from './panel_tests.mjs';

const [program, source, build, pictures, part = ''] = process.argv.slice(2);
/** The system's browser: playwright-core brings none. */
function installed() {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch { /* not here */ }
    }
  }
  console.error('browser tests: Chromium is missing, expected it in PATH (Debian: apt-get install chromium)');
  process.exit(1);
}
const chromium = installed();
const {chromium: driver} = createRequire(join(build, 'x.mjs'))('playwright-core');
const folder = mkdtempSync(join(tmpdir(), 'espalier-browser-'));
const fourBar = join(source, 'tests/viewer/data/four_bar.yaml');
const tello = join(source, 'robots/tello.yaml');
if (pictures) mkdirSync(pictures, {recursive: true});

const tests = [];
const test = (name, run) => { if (name.includes(part)) tests.push({name, run}); };
const running = new Set();

/** A server of `espalier view`. */
async function serve(robot, ...options) {
  const child = spawn(program, ['view', robot, '--no-browser', ...options], {stdio: ['ignore', 'pipe', 'inherit']});
  running.add(child);
  const url = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (bytes) => {
      text += bytes;
      if (text.includes('\n')) resolve(text.trim());
    });
    child.on('exit', (code) => reject(new Error(`espalier view ended with ${code}`)));
  });
  const stop = () => new Promise((resolve) => {
    running.delete(child);
    child.once('exit', resolve);
    child.kill('SIGINT');
  });
  return {url, stop};
}

/** The browser failed, not the page: its process or the one that draws is gone, or neither answers. */
class BrowserLost extends Error {}

let browser, lost;  // of the test that runs; lost: what became of the browser meanwhile
async function launch(...options) {
  lost = '';
  browser = await driver.launch({
    executablePath: chromium,
    // Chromium's sandbox does not run as root.
    args: [...(process.getuid() === 0 ? ['--no-sandbox'] : []), '--use-gl=angle', '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader', '--disable-dev-shm-usage', ...options],
  });
  browser.on('disconnected', () => { lost ||= 'its process is gone'; });
}
/** Ends the browser, also one that hangs. */
async function quit() {
  await Promise.race([browser.close(), new Promise((done) => setTimeout(done, 10000))]).catch(() => {});
}

/** Waits by the clock: a page that is drawn by software on a loaded machine has few frames. */
const until = (page, holds, argument) => page.waitForFunction(holds, argument, {polling: 50});

/** Whether a frame of the page comes while a test is stuck. */
const draws = (page) => Promise.race([
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done(true)))),
  new Promise((done) => setTimeout(() => done(false), 20000)),
]).catch(() => false);

/** A page, and what went wrong on it. */
async function open(url, use, options = {}) {
  const context = await browser.newContext({viewport: {width: 1000, height: 640}, ...options});
  const page = await context.newPage();
  page.setDefaultTimeout(60000);  // of a machine that runs other tests beside, without a GPU
  const wrong = [];
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on('crash', () => { lost ||= 'its page crashed'; });
  page.on('console', (message) => {
    const text = message.text();
    if (/WebGLRenderer: Context Lost/.test(text)) lost ||= 'the process that draws is gone';
    if (message.type() === 'error' && !/WebSocket|ERR_CONNECTION/.test(text)) wrong.push(text);
  });
  try {
    await page.goto(url);
    await until(page, () => window.espalier?.robot);
    await use(page, context);
    assert.deepEqual(wrong, []);
  } catch (error) {
    if (wrong.length > 0) error.message += `\non the page: ${wrong.join('; ')}`;
    if (wrong.length === 0 && !(await draws(page))) lost ||= 'no frame comes';
    throw error;
  } finally {
    await context.close().catch(() => {});
  }
}
const pose = (page) => page.evaluate(() => window.espalier.pose);
const slide = (page, i, value) => page.evaluate(([k, x]) => {
  const input = document.getElementById(`slider-${k}`);
  input.value = String(x);
  input.dispatchEvent(new Event('input'));
  input.dispatchEvent(new Event('change'));
}, [i, value]);
const idle = (page) => until(page, () => window.espalier.connection.idle);
const picture = async (page, name) => {
  if (!pictures) return;
  await page.waitForTimeout(400);
  await page.screenshot({path: join(pictures, `${name}.png`)});
};
/** How far the two ends of each pin are apart on the screen's scene. */
const gaps = (page) => page.evaluate(() => {
  const {robot, scene} = window.espalier;
  return scene.loops.map((loop, i) => {
    const [a, b] = robot.loopEnds(i);
    return b === undefined ? 0 : Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
  });
});
// Placements are sent with eight decimals.
const together = 1e-7;

test('page draws every link, joint and cluster', async () => {
  const server = await serve(tello);
  await open(server.url, async (page) => {
    const {links, expected, rows, clusters} = await page.evaluate(() => ({
      links: window.espalier.robot.statistics().links,
      expected: window.espalier.scene.links.filter((l) => l.inertia).length,
      rows: document.querySelectorAll('#kinematic-tree .row').length,
      clusters: document.querySelectorAll('#cluster-tree .row').length,
    }));
    const told = JSON.parse(execFileSync(program, ['info', tello, '--json'], {encoding: 'utf8'}));
    assert.ok(expected > 10);
    assert.ok(links >= expected, `${links} of ${expected} links are drawn`);
    const scene = await page.evaluate(() => window.espalier.scene);
    assert.equal(rows, told.bodies.length + 1);  // and the ground
    assert.equal(clusters, scene.clusters.length);
    assert.equal(scene.freedoms, told.nv);
    assert.equal(await page.locator('#panel input[id^=slider-]').count(), scene.freedoms);
    await picture(page, 'tello');
    await slide(page, 1, 1.5);
    await slide(page, 2, -2);
    await idle(page);
    assert.ok((await pose(page)).residual < 1e-10);
    // Frames while sliders move.
    const [rate, drawn] = await page.evaluate(async () => {
      const before = performance.now(), drawnBefore = window.espalier.robot.frames;
      let frames = 0, x = 0;
      while (performance.now() - before < 1000) {
        const input = document.getElementById('slider-3');
        input.value = String(Math.sin(x += 0.03));
        input.dispatchEvent(new Event('input'));
        const id = window.espalier.connection.next;
        await new Promise((r) => setTimeout(r, 1));
        while (!window.espalier.connection.idle) await new Promise((r) => setTimeout(r, 1));
        frames += window.espalier.connection.next > id - 1 ? 1 : 0;
      }
      return [frames, window.espalier.robot.frames - drawnBefore];
    });
    console.log(`  tello: ${rate} poses and ${drawn} frames a second with a slider moving`);
    assert.ok(drawn > 0, 'nothing is drawn while a slider moves');
    assert.ok(rate > 10, `${rate} poses a second`);  // software rendering on a loaded machine
  });
  await server.stop();
});

test('slider moves the four-bar, which stays closed', async () => {
  const server = await serve(fourBar);
  await open(server.url, async (page) => {
    const before = await page.evaluate(() => window.espalier.robot.loopEnds(0)[0]);
    for (const value of [0.1, -0.4, -1.2]) {
      await slide(page, 0, value);
      await idle(page);
      const now = await pose(page);
      assert.equal(now.verdict, 'closed');
      assert.ok(Math.abs(now.values[0] - value) < 1e-12);
      assert.ok(now.residual < 1e-10, `residual ${now.residual}`);
      assert.ok((await gaps(page))[0] < together);
    }
    const after = await page.evaluate(() => window.espalier.robot.loopEnds(0)[0]);
    assert.ok(Math.hypot(...after.map((x, i) => x - before[i])) > 0.05);
    assert.equal(await page.locator('#verdict').getAttribute('data-verdict'), 'closed');
    await picture(page, 'four_bar');
    // Past the dead point.
    await slide(page, 0, 1.5);
    await idle(page);
    const dead = await pose(page);
    assert.notEqual(dead.verdict, 'closed');
    assert.match(await page.locator('#verdict').getAttribute('class'), /bad/);
    assert.match(await page.locator('#words').textContent(), /bar\./);
    assert.ok((await gaps(page))[0] < together);
    await picture(page, 'dead_point');
    // Another assembly.
    await page.click('#neutral');
    await idle(page);
    const first = await pose(page);
    await page.click('#branch');
    await idle(page);
    const other = await pose(page);
    assert.deepEqual(other.values, first.values);
    assert.match(await page.locator('#branch-shown').textContent(), /^branch [12] of 2$/);
    assert.ok(Math.abs(other.q[1] - first.q[1]) > 0.1);
    assert.ok((await gaps(page))[0] < together);
  });
  await server.stop();
});

test('a link that is pulled by the mouse takes the mechanism along', async () => {
  const server = await serve(fourBar);
  await open(server.url, async (page) => {
    const end = () => page.evaluate(() => {
      const {robot, scene} = window.espalier;
      const coupler = scene.loops[0].ends[1];
      return robot.onScreen(coupler.body, coupler.point.map((x) => 0.5 * x));
    });
    const before = await pose(page), [x, y] = await end();
    await page.mouse.move(x, y);
    await page.mouse.down();
    for (let k = 1; k <= 12; ++k) await page.mouse.move(x + 5 * k, y + 4 * k);
    // The page sees moves with its next frame, which may take its time.
    await until(page, (from) => Math.abs(window.espalier.pose.values[0] - from) > 0.02, before.values[0]);
    await page.mouse.up();
    await idle(page);
    const after = await pose(page);
    assert.ok(after.residual < 1e-10);
    assert.ok((await gaps(page))[0] < together);
  });
  await server.stop();
});

test('a simulation plays, pauses and steps', async () => {
  const server = await serve(fourBar);
  await open(server.url, async (page) => {
    // It falls through a dead point at 0.41 s.
    await page.selectOption('#speed', '0.05');
    await page.click('#play');
    await until(page, () => window.espalier.sample?.t > 0.02 && window.espalier.energy.points > 5);
    await page.click('#play');
    await until(page, () => window.espalier.playing === false);
    await idle(page);
    await picture(page, 'simulation');
    const {t, energy} = await page.evaluate(() => window.espalier.sample);
    const points = await page.evaluate(() => window.espalier.energy.points);
    await page.click('#step');
    await until(page, (last) => window.espalier.sample.t > last, t);
    const next = await page.evaluate(() => window.espalier.sample);
    assert.ok(Math.abs(next.t - t - 1e-3) < 1e-9);
    assert.ok(Math.abs(next.energy - energy) < 1e-6);
    assert.equal(await page.evaluate(() => window.espalier.energy.points), points + 1);
    assert.ok((await pose(page)).residual < 1e-10);
  });
  await server.stop();
});

test('two pages at once have robots of their own', async () => {
  const server = await serve(fourBar);
  await open(server.url, async (one) => {
    await slide(one, 0, -0.7);
    await idle(one);
    await open(server.url, async (two) => {
      assert.equal((await pose(two)).values[0], 0);
      assert.ok(Math.abs((await pose(one)).values[0] + 0.7) < 1e-12);
    });
  });
  await server.stop();
});

test('a server that goes and returns finds its page again', async () => {
  const secret = join(folder, 'token');
  const first = await serve(fourBar, '--token-file', secret);
  const port = new URL(first.url).port;
  await open(first.url, async (page) => {
    await slide(page, 0, -0.3);
    await idle(page);
    await first.stop();
    await until(page, () => window.espalier.connected === false);
    assert.match(await page.locator('#banner').textContent(), /server is gone/);
    const second = await serve(fourBar, '--token-file', secret, '--port', port);
    assert.equal(second.url, first.url);
    await until(page, () => window.espalier.connected === true);
    await until(page, () => Math.abs(window.espalier.pose.values[0] + 0.3) < 1e-9);
    await slide(page, 0, 0.1);
    await until(page, () => Math.abs(window.espalier.pose.values[0] - 0.1) < 1e-9);
    assert.equal(await page.locator('#banner').isVisible(), false);
    await second.stop();
  });
});

test('exported file works from the disk without network', async () => {
  const file = join(folder, 'four_bar.html');
  execFileSync(program, ['view', fourBar, '--html', file]);
  assert.ok(statSync(file).size < 2e6);
  await open(`file://${file}`, async (page, context) => {
    await context.setOffline(true);
    for (const value of [0.123, -0.777]) {
      await slide(page, 0, value);
      // Between samples 0.105 rad apart: 0.105^2 / 8 times second derivatives of angles below 5 times
      // bars of 0.3 m is 2 mm.
      assert.ok((await gaps(page))[0] < 2e-3, `gap ${await gaps(page)}`);
      assert.ok(Number(await page.locator('#residual').getAttribute('data-value')) < 1e-10);
    }
    await slide(page, 0, 2.5);
    assert.match(await page.locator('#words').textContent(), /Out of reach/);
    await picture(page, 'exported');
  });
});

test('exported trajectory plays', async () => {
  const csv = join(folder, 'motion.csv'), file = join(folder, 'motion.html');
  execFileSync(program, ['simulate', tello, '--duration', '0.5', '--dt', '0.001', '--output', csv]);
  execFileSync(program, ['view', tello, '--trajectory', csv, '--html', file]);
  assert.ok(statSync(file).size < 2e6, `${statSync(file).size} bytes`);
  await open(`file://${file}`, async (page) => {
    const places = () => page.evaluate(() => window.espalier.scene.bodies.map((_, i) => window.espalier.robot.bodyPosition(i)));
    const before = await places();
    await page.click('#play');
    await until(page, () => window.espalier.time > 0.3);
    const after = await places();
    const moved = Math.max(...after.map((p, i) => Math.hypot(...p.map((x, k) => x - before[i][k]))));
    assert.ok(moved > 1e-3, `bodies moved by ${moved} m`);
    await until(page, () => window.espalier.time >= 0.5);
    assert.ok(await page.evaluate(() => window.espalier.robot.inView), 'the view follows the robot that falls');
    await picture(page, 'trajectory');
  });
});

test('a browser that cannot draw is told so, and a driver that starts anew draws again', async () => {
  const file = join(folder, 'still.html');
  execFileSync(program, ['view', fourBar, '--html', file]);
  await open(`file://${file}`, async (page) => {
    await until(page, () => !window.espalier.robot.drawing.pace.isDraft);
    await page.waitForTimeout(1000);
    const before = await page.screenshot();
    const frames = await page.evaluate(() => window.espalier.robot.frames);
    await (await browser.newBrowserCDPSession()).send('Browser.crashGpuProcess');
    await until(page, (n) => window.espalier.robot.frames > n, frames);
    await page.waitForTimeout(1000);
    assert.deepEqual(await page.screenshot(), before);
  });
  await quit();
  await launch('--disable-3d-apis');
  const page = await browser.newPage();
  await page.goto(`file://${file}`);
  await until(page, () => !document.getElementById('banner').hidden);
  assert.match(await page.locator('#banner').textContent(), /WebGL 2 is off or missing/);
});

panelTests({test, serve, open, until, idle, slide, pose, picture, gaps, together, program, source, folder});

/** Each test has a browser of its own, so that one that fails takes no other test along. */
async function attempt(run) {
  await launch();
  try {
    await run();
  } catch (error) {
    throw lost ? new BrowserLost(`the browser failed, ${lost}: ${error.message.split('\n', 1)}`) : error;
  } finally {
    for (const child of running) child.kill('SIGKILL');
    running.clear();
    await quit();
  }
}

const failures = [];
for (const {name, run} of tests) {
  const begin = Date.now();
  try {
    await attempt(run).catch((error) => {
      if (!(error instanceof BrowserLost)) throw error;
      console.log(`again   ${name}: ${error.message}`);
      return attempt(run);
    });
    console.log(`ok      ${name} (${Date.now() - begin} ms)`);
  } catch (error) {
    console.log(`FAILED  ${name} (${Date.now() - begin} ms)\n${error.stack}`);
    failures.push(`FAILED  ${name}: ${error.message.slice(0, 300).replaceAll('\n', ' ')}`);
  }
}
rmSync(folder, {recursive: true, force: true});
console.log([`${tests.length - failures.length} of ${tests.length} browser tests passed`, ...failures].join('\n'));
process.exit(failures.length > 0 ? 1 : 0);
