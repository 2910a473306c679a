// The page of real results: attention rows from a file, SmolLM2 and MiniLM inspected by the program on the repository's
// texts, two number types compared. Numbers on the page against the documents, the page's size, and how quickly it answers.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {after, before, describe, test} from 'node:test';
import {axe, folder, launch, open, program} from './browser.mjs';

const models = process.env.SOFTSCOPE_MODELS ?? fileURLToPath(new URL('../../build/models', import.meta.url));
const text = name => fileURLToPath(new URL(`../golden/real/${name}`, import.meta.url));
const missing = existsSync(join(models, 'smollm2.gguf')) && existsSync(join(models, 'minilm')) ? false : `no models in ${models}; scripts/get_models.sh gets them`;

// `softscope inspect` as JSON and page: {document, page}.
function inspect(name, model, file, ...options) {
  const [json, page] = [join(folder, `${name}.json`), join(folder, `${name}.html`)];
  execFileSync(program, ['inspect', join(models, model), '--text', text(file), '--json', json, '--html', page, '--quiet', ...options], {stdio: ['ignore', 'ignore', 'inherit']});
  return {document: JSON.parse(readFileSync(json, 'utf8')), json, page};
}

const three = value => String(Number(value.toPrecision(3))).replace('-', '−');

// Every cell of the grid against the document, for one metric and statistic.
async function compareCells(page, document, metric, stat) {
  await page.selectOption('#heads select >> nth=0', metric);
  if (stat) await page.selectOption('#heads select >> nth=1', stat);
  const labels = await page.$$eval('#heads .cell', cells => cells.map(cell => [Number(cell.dataset.layer), Number(cell.dataset.head), cell.getAttribute('aria-label')]));
  assert.equal(labels.length, document.layers.length * document.layers[0].heads.length);
  for (const [layer, head, label] of labels) {
    const value = stat ? document.layers[layer].heads[head][metric][stat] : document.layers[layer].heads[head][metric];
    if (Math.abs(value) >= 1e-3 && Math.abs(value) < 1000) assert.ok(label.endsWith(` ${three(value)}`), `${label} against ${value}`);
  }
}

// float32 of a shape as an NPY file.
function writeNpy(path, shape, values) {
  const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(', ')}), }`;
  const padded = `${header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11)}\n`;
  const preface = Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, padded.length & 255, padded.length >> 8]);
  writeFileSync(path, Buffer.concat([preface, Buffer.from(padded), Buffer.from(Float32Array.from(values).buffer)]));
}

test('a theta file: causal weights of 2 x 3 groups, one row of which leaks', async () => {
  const [size, groups] = [20, 6], weights = [];
  for (let group = 0; group < groups; group++)
    for (let query = 0; query < size; query++) {
      const row = Array.from({length: size}, (_, key) => (key <= query ? Math.exp(group * Math.sin(3 * key + query)) : 0));
      const total = row.reduce((sum, weight) => sum + weight, 0);
      weights.push(...row.map(weight => weight / total));
    }
  weights[size * 4 + 10] = 0.1; // group 0, query 4, key 10
  const [npy, json, html] = ['npy', 'json', 'html'].map(kind => join(folder, `rows.${kind}`));
  writeNpy(npy, [2, 3, size, size], weights);
  execFileSync(program, ['theta', npy, '--causal', '--quiet', '--json', json, '--html', html], {stdio: ['ignore', 'ignore', 'inherit']});
  const document = JSON.parse(readFileSync(json, 'utf8'));
  const browser = await launch();
  const {page, quiet, close} = await open(browser, html);
  assert.match(await page.textContent('#verdict .figures'), new RegExp(`${document.rows.rows} of ${document.rows.count}`));
  assert.match(await page.textContent('#rows'), /1 row is no distribution/);
  const shown = await page.$$eval('#rows tr[data-metric="theta"] td', cells => cells.map(cell => Number(cell.dataset.value)));
  assert.deepEqual(shown, ['mean', 'median', 'min', 'p5', 'p25', 'p75', 'p95', 'max'].map(name => Number(document.rows.theta[name].toPrecision(9))));
  for (const {index: [first, last], theta} of document.groups)
    assert.ok((await page.getAttribute(`#groups .cell[data-layer="${first}"][data-head="${last}"]`, 'aria-label')).endsWith(` ${three(theta.mean)}`));
  assert.ok((await page.$$('#profile .chart svg path')).length > 2);
  assert.deepEqual(await axe(page), []);
  quiet();
  await close();
  await browser.close();
});

describe('real results', {skip: missing}, () => {
  let browser, smollm, minilm, long;
  before(async () => {
    browser = await launch();
    smollm = inspect('smollm', 'smollm2.gguf', 'lighthouse.txt');
    minilm = inspect('minilm', 'minilm', 'lighthouse.txt');
    long = inspect('long', 'smollm2.gguf', 'genesis-multiscript.txt', '--max-tokens', '1024');
  });
  after(() => browser.close());

  test('SmolLM2: cells, sentences and tokens say what the document says', async () => {
    const {page, quiet, close} = await open(browser, smollm.page);
    for (const [metric, stat] of [['theta', 'median'], ['entropy_norm', 'mean'], ['p_max', 'max'], ['first_key', null], ['max_logit', null]])
      await compareCells(page, smollm.document, metric, stat);
    assert.deepEqual(await page.$$eval('#text .token', tokens => tokens.length), smollm.document.input.tokens);
    const shown = await page.$$eval('#verdict .finding', list => list.map(item => item.dataset.finding));
    assert.deepEqual(new Set(shown), new Set(smollm.document.findings.map(({id}) => id)));
    const parked = smollm.document.layers.flatMap(({heads}) => heads).filter(head => head.sink_rate === 1).length;
    assert.match(await page.textContent('#verdict .figures'), new RegExp(`${parked} of 270`));
    quiet();
    await close();
  });

  test('SmolLM2: the massive token is found from the hidden states and followed', async () => {
    const {page, quiet, close} = await open(browser, smollm.page);
    await page.click('#layers .massive a >> nth=0');
    const {token} = smollm.document.layers.flatMap(({hidden}) => hidden.massive).sort((a, b) => Math.abs(b.value) - Math.abs(a.value))[0];
    assert.match(await page.textContent('#token h2'), new RegExp(`^Token ${token} `));
    await page.click('#token .ranking a >> nth=0');
    assert.match(await page.textContent('#head h2'), /^Layer \d+, head \d+$/);
    quiet();
    await close();
  });

  test('MiniLM: a model without a causal mask and without an output', async () => {
    const {page, quiet, close} = await open(browser, minilm.page);
    for (const [metric, stat] of [['theta', 'mean'], ['dominance', null], ['prev_token', null]]) await compareCells(page, minilm.document, metric, stat);
    assert.match(await page.textContent('#text'), /No output to show/);
    assert.match(await page.textContent('#text .tokens'), /\[CLS\] the old lighthouse keeper/);
    await page.click('#text .token >> nth=3');
    assert.match(await page.textContent('#token h2'), /Token 3/);
    quiet();
    await close();
  });

  test('two number types: the differences are small and shown', async () => {
    const narrow = inspect('narrow', 'smollm2.gguf', 'lighthouse.txt', '--dtype', 'bf16');
    const path = join(folder, 'types.html');
    execFileSync(program, ['report', smollm.json, narrow.json, '-o', path]);
    const {page, quiet, close} = await open(browser, path, {hash: '#view=difference&metric=p_max'});
    assert.match(await page.textContent('h1'), /f32 and bf16/);
    const [from, to] = [smollm, narrow].map(({document}) => document.layers[4].heads[5].p_max.mean);
    assert.match(await page.getAttribute('#heads .cell[data-layer="4"][data-head="5"]', 'aria-label'), new RegExp(`${three(from)} in A, ${three(to)} in B`));
    assert.deepEqual(await axe(page), []);
    quiet();
    await close();
  });

  for (const [scheme, width] of [['light', 1280], ['dark', 390]])
    test(`no barrier on a real page in ${scheme} at ${width} pixels`, async () => {
      const {page, quiet, close} = await open(browser, smollm.page, {scheme, width, hash: '#token=0'});
      assert.deepEqual(await axe(page), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      quiet();
      await close();
    });

  test('SmolLM2 at 1024 tokens: under 3 MB, ready within 2 s, metrics change within 200 ms', async () => {
    assert.ok(statSync(long.page).size < 3e6, `${statSync(long.page).size} bytes`);
    const {page, readyAfter, work, quiet, close} = await open(browser, long.page);
    const opening = await work();
    const times = [];
    for (const metric of ['p_max', 'first_key', 'max_logit', 'theta']) {
      const begin = await work();
      await page.selectOption('#heads select >> nth=0', metric);
      await page.evaluate(() => new Promise(done => requestAnimationFrame(() => setTimeout(done))));
      times.push((await work()) - begin);
    }
    console.log(`page of ${(statSync(long.page).size / 1e6).toFixed(2)} MB: ready after ${readyAfter.toFixed(0)} ms on the clock, ${(1000 * opening).toFixed(0)} ms of work; metrics change in ${times.map(time => (1000 * time).toFixed(0)).join(', ')} ms`);
    assert.ok(opening < 2, `${opening} s`);
    assert.ok(Math.max(...times) < 0.2, `${times} s`);
    quiet();
    await close();
  });
});
