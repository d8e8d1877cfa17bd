// Makes viewer.html, which holds all its scripts and styles: node bundle.mjs BUILD_FOLDER
import {readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {execFileSync} from 'node:child_process';
import {join} from 'node:path';

const folder = process.argv[2];
const require = createRequire(join(folder, 'bundle.mjs'));
const esbuild = require('esbuild');

execFileSync(process.execPath, [require.resolve('typescript/bin/tsc'), '-p', folder], {stdio: 'inherit'});
const result = await esbuild.build({
  absWorkingDir: folder,
  entryPoints: ['page/main.ts'],
  bundle: true,
  minify: true,
  write: false,
  outdir: 'out',
  target: 'es2022',
  format: 'iife',
  preserveSymlinks: true,
  legalComments: 'inline',
  logLevel: 'warning',
});
const text = (ending) => result.outputFiles.find((file) => file.path.endsWith(ending)).text;
// A function as replacement: "$&" in the bundle would stand for something.
const page = readFileSync(join(folder, 'page/index.html'), 'utf8')
    .replace('/* style */', () => text('.css'))
    .replace('/* script */', () => text('.js').replaceAll('</script', '<\\/script'));
writeFileSync(join(folder, 'viewer.html'), page);
