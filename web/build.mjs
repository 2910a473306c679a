// Builds dist/page.html: one template with the style, the script, the compiled charts and the licences of what the
// script contains. The program fills in {{softscope-title}} and {{softscope-documents}} (src/report/html.c).
import {createHash} from 'node:crypto';
import {existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';
import {compile} from 'vega-lite';
import {charts, config} from './charts.js';

const here = dirname(fileURLToPath(import.meta.url));
const PLACES = ['{{softscope-title}}', '{{softscope-documents}}'];

// Vega-Lite to Vega, which the page's runtime reads; a warning of the compiler is an error here.
function compiledCharts() {
  const fail = message => { throw new Error(message); };
  const logger = {level: () => logger, info: () => logger, debug: () => logger, warn: fail, error: fail};
  return Object.fromEntries(Object.entries(charts).map(([name, spec]) => [name, compile(spec, {config, logger}).spec]));
}

// The licence file of every package that left bytes in the bundle: [{names, text}], equal texts together.
function licences(metafile) {
  const packages = new Set();
  for (const output of Object.values(metafile.outputs))
    for (const [path, {bytesInOutput}] of Object.entries(output.inputs)) {
      const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
      if (found && bytesInOutput > 0) packages.add(found[1]);
    }
  const byText = new Map();
  for (const name of [...packages].sort()) {
    const folder = join(here, 'node_modules', name);
    const file = readdirSync(folder).find(entry => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} has no licence file`);
    const {version} = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const text = readFileSync(join(folder, file), 'utf8').trim();
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version}`]);
  }
  return [...byText].map(([text, names]) => ({names, text}));
}

// Modules made here: 'made:charts' and 'made:licences'.
const made = modules => ({
  name: 'made',
  setup(build) {
    build.onResolve({filter: /^made:/}, ({path}) => ({path, namespace: 'made'}));
    build.onLoad({filter: /.*/, namespace: 'made'}, ({path}) => ({
      contents: JSON.stringify(modules[path.slice('made:'.length)]), loader: 'json',
    }));
  },
});

async function bundle(modules) {
  return build({
    absWorkingDir: here, entryPoints: ['src/main.js'], bundle: true, minify: true, write: false, metafile: true,
    format: 'iife', target: ['chrome90', 'firefox100', 'safari15'], charset: 'utf8', legalComments: 'none',
    plugins: [made(modules)], logLevel: 'warning', outfile: 'page.js',
  });
}

async function style() {
  const result = await build({
    absWorkingDir: here, entryPoints: ['src/style.css'], minify: true, write: false, logLevel: 'warning', outfile: 'page.css',
  });
  return result.outputFiles[0].text.trim();
}

const drawn = compiledCharts();
const {metafile} = await bundle({charts: drawn, licences: []});
const script = (await bundle({charts: drawn, licences: licences(metafile)})).outputFiles[0].text.trim();
if (/<\/script|<!--/i.test(script)) throw new Error('the script would close its own tag');

const fill = {
  '{{script}}': script,
  '{{style}}': await style(),
  '{{script-hash}}': `sha256-${createHash('sha256').update(script).digest('base64')}`,
};
const page = readFileSync(join(here, 'src/page.html'), 'utf8').replace(/\{\{[a-z-]+\}\}/g, place => fill[place] ?? place);
for (const place of PLACES)
  if (page.split(place).length !== 2) throw new Error(`${place} must stand exactly once in the page`);

const dist = join(here, 'dist');
if (!existsSync(dist)) mkdirSync(dist);
writeFileSync(join(dist, 'page.html'), page);
console.log(`dist/page.html: ${(page.length / 1024).toFixed(0)} KiB`);
