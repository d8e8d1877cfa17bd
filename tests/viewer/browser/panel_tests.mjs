// Tests of the side panel: graphs, coordinates, runs, forces, comparisons. browser_test.mjs runs them.
import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
import {readFileSync, readdirSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

export function panelTests({test, serve, open, until, idle, slide, pose, picture, gaps, together, program, source, folder}) {
  const fourBar = join(source, 'tests/viewer/data/four_bar.yaml');
  const robot = (name) => join(source, 'robots', name);
  const unfold = (page) => page.evaluate(() => document.querySelectorAll('details').forEach((d) => { d.open = true; }));

  test('subsystem graph is that of espalier graph, and what is selected in one is selected in all', async () => {
    const server = await serve(robot('tello.yaml'));
    await open(server.url, async (page) => {
      const graph = JSON.parse(execFileSync(program,
          ['graph', robot('tello.yaml'), '--kind', 'subsystems', '--format', 'json'], {encoding: 'utf8'}));
      const shown = await page.evaluate(() => window.espalier.scene.subsystems);
      assert.deepEqual(shown.nodes.map((n) => [n.name, n.type]), graph.nodes.map((n) => [n.name, n.type]));
      assert.deepEqual(shown.edges, graph.edges);
      await unfold(page);
      const rows = page.locator('#subsystem-graph .row');
      assert.equal(await rows.count(), graph.nodes.length);
      const unit = shown.nodes.findIndex((n) => n.name === 'left');
      await rows.nth(unit).click();
      const selected = (tree, mark) => page.locator(`#${tree} .row.${mark}`).count();
      assert.equal(await selected('kinematic-tree', 'selected'), shown.nodes[unit].bodies.length);
      assert.ok(await selected('cluster-tree', 'selected') >= 3);
      assert.equal(await selected('subsystem-graph', 'selected'), 1);
      await picture(page, 'subsystems');
      // One body is a part of its cluster and of its unit.
      const body = shown.nodes[unit].bodies.find((b) => b > 0);
      await page.locator('#kinematic-tree .row').filter({hasText: await page.evaluate((b) => window.espalier.scene.bodies[b].name, body)})
          .first().click();
      assert.equal(await selected('kinematic-tree', 'selected'), 1);
      assert.equal(await selected('subsystem-graph', 'within'), 1);
    });
    await server.stop();
  });

  test('a dependent joint gets a slider of its own', async () => {
    const server = await serve(fourBar);
    await open(server.url, async (page) => {
      await slide(page, 0, -0.5);
      await idle(page);
      const before = await pose(page);
      const rocker = await page.evaluate(() => window.espalier.scene.joints.findIndex((j) => j.name === 'bar.rocker'));
      await page.click(`#exchange-${rocker}`);
      await until(page, () => window.espalier.scene.sliders[0].name === 'bar.rocker');
      const now = await pose(page);
      now.q.forEach((x, i) => assert.ok(Math.abs(x - before.q[i]) < 1e-9));
      await slide(page, 0, now.values[0] + 0.15);
      await idle(page);
      const moved = await pose(page);
      assert.equal(moved.verdict, 'closed');
      assert.ok(moved.residual < 1e-10);
      assert.ok((await gaps(page))[0] < together);
      assert.ok(Math.abs(moved.q[0] - before.q[0]) > 0.02, 'the crank follows');
      assert.equal(await page.locator('.pane canvas').count(), 1);
      await picture(page, 'coordinates');
      // At a dead point of the rocker the best coordinate is another one.
      await slide(page, 0, moved.values[0] + 3);
      await idle(page);
      const stuck = await pose(page);
      assert.notEqual(stuck.verdict, 'closed');
      await page.click('#best');
      await until(page, () => window.espalier.scene.sliders[0].name !== 'bar.rocker');
      assert.ok((await pose(page)).margin > 2 * stuck.margin);
    });
    await server.stop();
  });

  test('the whole robot is brought into view, and is looked through', async () => {
    const server = await serve(robot('tello.yaml'));
    await open(server.url, async (page) => {
      const shown = () => page.evaluate(() => ({through: window.espalier.robot.seeThrough,
        bars: window.espalier.robot.layers.skeleton, view: window.espalier.robot.inView}));
      assert.deepEqual(await shown(), {through: false, bars: false, view: true});
      await unfold(page);
      await page.click('#see-through');
      assert.deepEqual(await shown(), {through: true, bars: true, view: true});
      await picture(page, 'through');
      await page.click('#see-through');
      assert.deepEqual(await shown(), {through: false, bars: false, view: true});
      assert.equal(await page.locator('label.slider span').first().textContent(), 'root turn x');
      // Far to the side, as a robot that was pushed.
      await page.evaluate(() => { window.espalier.robot.controls.target.x += 5; window.espalier.robot.controls.update(); });
      assert.equal((await shown()).view, false);
      await page.click('#fit');
      assert.equal((await shown()).view, true);
      await page.evaluate(() => { window.espalier.robot.controls.target.x += 5; window.espalier.robot.controls.update(); });
      await page.keyboard.press('f');
      assert.equal((await shown()).view, true);
      const numbers = await page.locator('label.slider output').allTextContents();
      assert.ok(numbers.every((text) => !/^-0(\.0*)?[^0-9.]/.test(text)), numbers.join(' '));
    });
    await server.stop();
    // All its shapes stand for inertia: what is inside is seen from the start.
    const bar = await serve(fourBar);
    await open(bar.url, async (page) => {
      assert.equal(await page.evaluate(() => window.espalier.robot.seeThrough), true);
    });
    await bar.stop();
    const leg = await serve(robot('four_bar_leg.yaml'));
    await open(leg.url, async (page) => {
      assert.equal(await page.evaluate(() => window.espalier.robot.seeThrough), false);
      assert.match(await page.locator('#verdict').getAttribute('class'), /good/);
    });
    await leg.stop();
  });

  test('where frames are slow, numbers end at the last pose, verdicts come at once, and what rests is fine', async () => {
    const server = await serve(fourBar);
    await open(server.url, async (page) => {
      // Slow from now on, whatever the machine is; drafts: whether each frame is one.
      await page.evaluate(() => {
        const {pace} = window.espalier.robot.drawing, apply = pace.apply.bind(pace);
        window.drafts = [];
        Object.assign(pace, {level: 3, take() {}, apply(moves) { apply(moves); window.drafts.push(pace.isDraft); }});
      });
      const frames = () => page.evaluate(() => window.espalier.robot.frames);
      for (let k = 1; k <= 10; ++k) {
        const before = await frames();
        await slide(page, 0, -0.04 * k);
        await until(page, (n) => window.espalier.robot.frames > n, before);
      }
      assert.ok(await page.evaluate(() => window.drafts.includes(true)), 'what moves is drawn coarsely');
      await slide(page, 0, -0.5);
      await until(page, () => document.querySelector('label.slider output').textContent === '-28.6°');  // -0.5 rad
      assert.ok(Math.abs((await pose(page)).values[0] + 0.5) < 1e-12);
      assert.ok((await gaps(page))[0] < together);
      await slide(page, 0, 1.5);  // past the dead point
      await idle(page);
      assert.equal(await page.locator('#verdict').getAttribute('data-verdict'), (await pose(page)).verdict);
      assert.match(await page.locator('#verdict').getAttribute('class'), /bad/);
      await until(page, () => !window.espalier.robot.drawing.pace.isDraft);
      const [width, shown] = await page.evaluate(() => [window.espalier.robot.canvas.width, window.espalier.robot.canvas.clientWidth]);
      assert.equal(width, shown);
    });
    await server.stop();
  });

  test('motors hold a robot up, and charts show their torques', async () => {
    const server = await serve(robot('tello.yaml'), '--root', 'fixed');
    await open(server.url, async (page) => {
      await page.click('#random');
      await idle(page);
      const before = await pose(page);
      await page.selectOption('#controller', 'hold');
      await page.selectOption('#speed', '0.1');
      await page.click('#play');
      await until(page, () => window.espalier.sample?.t > 0.02);
      await page.click('#add-chart');
      const name = await page.evaluate(() => window.espalier.scene.sliders[2].name);
      await page.locator('.charted').nth(2).selectOption(`tau ${name}`);
      await until(page, () => window.espalier.run.strips.list[2].chart.points > 3);
      await page.click('#play');
      await until(page, () => window.espalier.playing === false);
      await idle(page);
      const after = await pose(page);
      after.q.forEach((x, i) => assert.ok(Math.abs(x - before.q[i]) < 1e-4, `joint position ${i} stays`));
      const {tau, shown} = await page.evaluate(() => ({tau: window.espalier.sample.tau, shown: window.espalier.run.strips.list[2].chart.latest[1]}));
      assert.equal(shown, tau[2]);
      assert.ok(Math.max(...tau.map(Math.abs)) > 0.01);
      await picture(page, 'held');
    });
    await server.stop();
  });

  test('reactions, tension and what motors can push are drawn', async () => {
    const server = await serve(fourBar);
    await open(server.url, async (page) => {
      await unfold(page);
      await page.check('#show-reactions');
      await until(page, () => window.espalier.robot.forces.counts.arrows > 0);
      assert.deepEqual(await page.evaluate(() => window.espalier.robot.forces.counts), {arrows: 4, bars: 3, corners: 0});
      assert.match(await page.locator('#force-words').textContent(), /Longest arrow: [0-9.]+ N/);
      const coupler = await page.evaluate(() => window.espalier.scene.links.findIndex((l) => l.name === 'bar.coupler'));
      await page.selectOption('#strength', String(coupler));
      await until(page, () => window.espalier.robot.forces.counts.corners === 2);
      await slide(page, 0, -0.9);
      await idle(page);
      assert.equal(await page.evaluate(() => window.espalier.robot.forces.counts.bars), 3);
      await picture(page, 'forces');
      await page.uncheck('#show-reactions');
      await page.selectOption('#strength', '-1');
      await until(page, () => window.espalier.robot.forces.counts.arrows + window.espalier.robot.forces.counts.corners === 0);
    });
    await server.stop();
    const arm = await serve(robot('ur5.urdf'));
    await open(arm.url, async (page) => {
      await page.click('#random');
      await idle(page);
      await unfold(page);
      const last = await page.evaluate(() => window.espalier.scene.links.length - 1);
      await page.selectOption('#strength', String(last));
      await until(page, () => window.espalier.robot.forces.counts.corners >= 8);
      await picture(page, 'strength');
    });
    await arm.stop();
  });

  test('two algorithms stand side by side with their difference', async () => {
    const server = await serve(fourBar, '--compare', 'c-aba-reference');
    await open(server.url, async (page) => {
      assert.equal(await page.locator('.pane canvas').count(), 2);
      await slide(page, 0, -0.4);
      await idle(page);
      const other = await page.evaluate(() => window.espalier.other.pose);
      assert.ok(Math.abs(other.values[0] + 0.4) < 1e-12);
      await page.selectOption('#speed', '0.05');
      await page.click('#play');
      await until(page, () => window.espalier.sample?.t > 0.01 && window.espalier.energy.points > 1);
      await page.click('#play');
      await until(page, () => window.espalier.playing === false);
      await idle(page);
      const {difference, list, places} = await page.evaluate(() => ({difference: window.espalier.difference,
        list: window.espalier.run.strips.list.map((s) => [s.key, s.chart.points]),
        places: [window.espalier.robot, window.espalier.beside].map((r) => r.bodyPosition(3))}));
      assert.ok(difference < 1e-9, `difference ${difference}`);
      assert.ok(list.some(([key, points]) => key === 'difference' && points > 1));
      assert.ok(Math.hypot(...places[0].map((x, i) => x - places[1][i])) < together);
      await picture(page, 'compared');
    });
    await server.stop();
    const two = await serve(robot('tello.yaml'), '--compare', robot('tello_with_arms.yaml'));
    await open(two.url, async (page) => {
      await slide(page, 2, 0.3);
      await idle(page);
      assert.equal(await page.locator('.pane canvas').count(), 2);
      await picture(page, 'two_robots');
    });
    await two.stop();
  });

  test('exported sweep plays through the range of its coordinate', async () => {
    const file = join(folder, 'sweep.html');
    execFileSync(program, ['view', fourBar, '--html', file, '--sweep', 'bar.crank']);
    assert.ok(statSync(file).size < 2e6);
    await open(`file://${file}`, async (page, context) => {
      await context.setOffline(true);
      const end = () => page.evaluate(() => window.espalier.robot.loopEnds(0)[0]);
      const before = await end();
      await page.click('#play');
      await until(page, () => Math.abs(window.espalier.swept) > 0.1);
      await page.click('#play');
      await until(page, (from) => {  // once it is drawn
        const now = window.espalier.robot.loopEnds(0)[0];
        return Math.hypot(...now.map((x, i) => x - from[i])) > 0.01;
      }, before);
      // Between samples 0.026 rad apart gaps are sixteen times below those of 0.105 rad: 2 mm / 16.
      for (const value of [0.123, -0.777]) {  // near the ends of its range angles turn faster
        await slide(page, 0, value);
        assert.ok((await gaps(page))[0] < 1.3e-4, `gap ${await gaps(page)}`);
      }
      // The crank does not turn round: charts have gaps where the loop does not close, and lines elsewhere.
      const [margins, residuals] = await page.evaluate(() => window.espalier.charts.map((c) => c.range));
      assert.ok(margins[0] < 0.1 && margins[1] > 0.3, `margins from ${margins}`);
      assert.ok(residuals[1] > residuals[0] && residuals[1] < 1e-10, `residuals from ${residuals}`);
      await picture(page, 'sweep');
    });
  });

  test('wrong options are told by name', async () => {
    const html = join(folder, 'no.html');
    for (const [options, status, words] of [
      [['--trajectory', '/dev/zero', '--html', '/dev/null'], 2, /trajectory is larger than .* at most so many \(256 MB\)/],
      [['--token-file', '/dev/zero'], 2, /'\/dev\/zero' is no secret of this program/],
      [['--sweep', 'bar.crank'], 2, /--sweep is given alone, expected --html/],
      [['--sweep', 'bar.rocker', '--html', html], 2, /'bar\.rocker', expected an independent one \(bar\.crank\)/],
      [['--compare', 'abba'], 2, /--compare is 'abba', expected a robot file or an algorithm.*c-aba/],
      [['--compare', 'c-aba-reference', '--html', html], 2, /--compare is given with --html/],
      [['--controller', join(folder, 'none.json')], 2, /none\.json/],
    ]) {
      const {status: got, stderr} = spawnSync(program, ['view', fourBar, '--no-browser', ...options], {encoding: 'utf8'});
      assert.match(stderr, words);
      assert.equal(got, status, `${options.join(' ')}: ${stderr}`);
    }
  });

  test('what is drawn without its mesh, or has the inertia of no body, is told once', async () => {
    const robot = join(folder, 'wedge.urdf'), html = join(folder, 'wedge.html');
    writeFileSync(robot, `<robot name="wedge"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="3" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="wedge.stl"/></geometry></visual></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>`);
    const warnings = (...options) => {
      const {status, stderr} = spawnSync(program, ['view', robot, '--html', html, ...options], {encoding: 'utf8'});
      assert.equal(status, 0, stderr);
      return stderr.split('\n').filter((line) => line.startsWith('warning: '));
    };
    const told = warnings();
    assert.equal(told.length, 2, told.join('\n'));
    assert.match(told[0], /wedge\.urdf:1: link 'arm': principal moments of inertia are 1, 1 and 3/);
    assert.match(told[1], /wedge\.urdf:3: link 'arm': mesh 'wedge\.stl': file is missing/);
    assert.equal(warnings('--search', join(source, 'tests/mjcf/models/parts')).length, 1);
  });

  // One of the four: a picture is a browser of its own, and takes 5 s of a processor without a GPU.
  test('pictures of the docs show robots', async () => {
    execFileSync('bash', [join(source, 'docs/pictures.sh'), program, folder, 'rod_ankle']);
    const files = readdirSync(folder).filter((name) => /^viewer_.*\.png$/.test(name));
    assert.deepEqual(files, ['viewer_rod_ankle.png']);
    const any = join(folder, 'any.html');
    execFileSync(program, ['view', fourBar, '--html', any]);
    await open(`file://${any}`, async (page) => {
      const {width, height, drawn, hues} = await page.evaluate(async (bytes) => {
        const image = new Image();
        image.src = `data:image/png;base64,${bytes}`;
        await image.decode();
        const canvas = document.createElement('canvas');
        canvas.width = image.width, canvas.height = image.height;
        const paint = canvas.getContext('2d');
        paint.drawImage(image, 0, 0);
        const pixels = paint.getImageData(0, 0, image.width, image.height).data;
        // The background is a dark gradient; robots are brighter.
        let bright = 0;
        const found = new Set();
        for (let i = 0; i < pixels.length; i += 4) {
          const [r, g, b] = [pixels[i], pixels[i + 1], pixels[i + 2]];
          const most = Math.max(r, g, b), least = Math.min(r, g, b);
          if (most > 110) ++bright;
          if (most > 110 && most - least > 60) found.add(most === r ? 'r' : most === g ? 'g' : 'b');
        }
        return {width: image.width, height: image.height, drawn: bright / (image.width * image.height), hues: found.size};
      }, readFileSync(join(folder, files[0])).toString('base64'));
      assert.deepEqual([width, height], [1200, 800]);
      assert.ok(drawn > 0.01 && drawn < 0.9, `${drawn} of the picture is bright`);
      assert.ok(hues >= 1, 'clusters have colours');
    });
  });
}
