// The page in a real browser, on made-up results: every path through it, its numbers against the document, hostile
// names, and accessibility.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {axe, launch, makePage, open, saved} from './browser.mjs';
import {inspectResult, thetaResult} from './documents.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const result = inspectResult();
const other = inspectResult({seed: 9, input: 'another.txt'});
const cell = (layer, head, section = '#heads') => `${section} .cell[data-layer="${layer}"][data-head="${head}"]`;
const label = (page, selector) => page.getAttribute(selector, 'aria-label');

describe('one result', () => {
  let path;
  before(() => { path = makePage('one', result); });

  test('opens on the head of the first finding, with the verdict on top', async () => {
    const {page, quiet, close} = await open(browser, path);
    assert.match(await page.textContent('#verdict h2'), /works, with 1 thing to look at/);
    assert.deepEqual(await page.$$eval('#verdict .finding', list => list.map(item => item.dataset.finding)), ['saturated-heads', 'massive-activation']);
    assert.equal(await page.textContent('#head h2'), 'Layer 2, head 1');
    assert.match(await page.title(), /^tiny/);
    quiet();
    await close();
  });

  test('cells show the value, the statistic and the metric that were chosen', async () => {
    const {page, quiet, close} = await open(browser, path);
    const selects = page.locator('#heads select');
    for (const [metric, stat] of [['theta', 'p5'], ['p_max', 'median'], ['first_key', null]]) {
      await selects.nth(0).selectOption(metric);
      if (stat) await selects.nth(1).selectOption(stat);
      const value = stat ? result.layers[1].heads[2][metric][stat] : result.layers[1].heads[2][metric];
      assert.match(await label(page, cell(1, 2)), new RegExp(`layer 1, head 2: The ${metric}.* ${Number(value.toPrecision(3))}$`));
      assert.match(await page.textContent('#heads .card'), new RegExp(`definition of ${metric}.*a paper`));
      assert.match(page.url(), stat || metric !== 'theta' ? new RegExp(`metric=${metric}|stat=`) : /html$/);
    }
    quiet();
    await close();
  });

  test('a value that is absent says why', async () => {
    const withSome = structuredClone(result);
    withSome.layers[0].heads[0].induction = 0.5;
    const {page, quiet, close} = await open(browser, makePage('absent', withSome), {hash: '#metric=induction'});
    assert.match(await label(page, cell(1, 1)), /no value \(no token occurs twice\)/);
    assert.match(await label(page, cell(0, 0)), /0\.5$/);
    quiet();
    await close();
  });

  test('heads outside the result are marked as not measured', async () => {
    const part = structuredClone(result);
    part.layers = [part.layers[1]];
    part.layers[0].heads = [part.layers[0].heads[2]];
    part.findings = [];
    const {page, quiet, close} = await open(browser, makePage('part', part));
    assert.match(await label(page, cell(0, 0)), /not measured/);
    assert.match(await page.textContent('#head .diagnosis'), /not measured/);
    await page.click(cell(1, 2));
    assert.match(await page.textContent('#head .diagnosis'), /θ of/);
    quiet();
    await close();
  });

  test('choosing a cell opens that head: sentence, numbers, charts and address follow', async () => {
    const {page, quiet, close} = await open(browser, path);
    await page.click(cell(1, 3));
    assert.equal(await page.textContent('#head h2'), 'Layer 1, head 3');
    assert.match(page.url(), /layer=1&head=3/);
    const head = result.layers[1].heads[3];
    await page.click('#head .all-numbers summary');
    assert.deepEqual(await page.$$eval('#head tr[data-metric="theta"] td', cells => cells.map(each => Number(each.dataset.value))),
      ['mean', 'min', 'p5', 'p25', 'median', 'p75', 'p95', 'max'].map(name => Number(head.theta[name].toPrecision(9))));
    assert.equal(Number(await page.getAttribute('#head [data-metric="max_logit"] dd', 'data-value')), Number(head.max_logit.toPrecision(9)));
    assert.match(await page.textContent('#head [data-metric="induction"] dd'), /absent: no token occurs twice/);
    const charts = await page.$$eval('#head .chart', nodes => nodes.map(node => [node.getAttribute('aria-label'), node.querySelectorAll('svg path').length]));
    assert.equal(charts.length, 3);
    for (const [text, paths] of charts) assert.ok(text && paths > 3, `${text}: ${paths} paths`);
    quiet();
    await close();
  });

  test('a link shows the same view again', async () => {
    const {page, quiet, close} = await open(browser, path, {hash: '#layer=0&head=2&metric=p_max&stat=max&token=3'});
    assert.equal(await page.textContent('#head h2'), 'Layer 0, head 2');
    assert.match(await page.textContent('#token h2'), /Token 3 “␣word3”/);
    assert.equal(await page.getAttribute(cell(0, 2), 'aria-selected'), 'true');
    assert.equal(await page.inputValue('#heads select >> nth=0'), 'p_max');
    await page.goto(page.url().replace(/#.*/, '#layer=99&head=-2&token=1e9&metric=nonsense&stat=x&view=y'));
    assert.match(await page.textContent('#head h2'), /^Layer \d, head \d$/);
    assert.equal(await page.textContent('#token h2'), 'One token');
    quiet();
    await close();
  });

  test('the map reads the weight of a cell and leads to a token', async () => {
    const {page, quiet, close} = await open(browser, path, {hash: '#layer=0&head=0'});
    const {map} = result.layers[0].heads[0];
    const weight = (Buffer.from(map.data, 'base64')[5 * map.keys + 2] / 255) ** 2;
    await page.focus('.map-plane');
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
    const read = await page.textContent('.map-reading');
    assert.match(read, /“word5” \(token 5\) puts .* on “word2” \(token 2\)/);
    assert.equal(Number(/puts ([\d.]+)/.exec(read)[1]), Number(weight.toPrecision(2)));
    await page.keyboard.press('Enter');
    assert.match(await page.textContent('#token h2'), /Token 2/);
    quiet();
    await close();
  });

  test('a token shows who attends to it, from the columns of the maps', async () => {
    const {page, quiet, close} = await open(browser, path);
    await page.click('#text .token[data-token="4"]');
    assert.match(page.url(), /token=4/);
    const {map} = result.layers[2].heads[3];
    const bytes = Buffer.from(map.data, 'base64');
    let sum = 0;
    for (let query = 4; query < map.queries; query++) sum += (bytes[query * map.keys + 4] / 255) ** 2;
    const share = (100 * sum) / (map.queries - 4);
    assert.match(await label(page, cell(2, 3, '#token')), new RegExp(`puts ${String(Number(share.toPrecision(2))).replace('.', '\\.')} % of its attention here`));
    await page.click('#token .ranking a >> nth=0');
    assert.match(await page.textContent('#head h2'), /Layer \d, head \d/);
    quiet();
    await close();
  });

  test('text is coloured by what the output said, and confident misses are underlined', async () => {
    const sure = structuredClone(result);
    sure.output.tokens.p_max.fill(0.5);
    sure.output.tokens.target_p.fill(0.5, 0, -1);
    sure.output.tokens.p_max[3] = 0.95;
    sure.output.tokens.target_p[3] = 0.01;
    const {page, quiet, close} = await open(browser, makePage('sure', sure));
    assert.deepEqual(await page.$$eval('#text .missed', list => list.map(token => token.dataset.token)), ['4']);
    await page.selectOption('#text select', 'target_p');
    assert.match(page.url(), /text=target_p/);
    await page.hover('#text .token[data-token="4"]');
    assert.match(await page.textContent('.tip'), /token 4 .*0\.01, the model was confident of another token/);
    quiet();
    await close();
  });

  test('grids and text are walked with the keyboard', async () => {
    const {page, quiet, close} = await open(browser, path, {hash: '#layer=0&head=0'});
    await page.focus(cell(0, 0));
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    assert.equal(await page.textContent('#head h2'), 'Layer 1, head 1');
    assert.equal(await page.locator('#heads .cell[tabindex="0"]').count(), 1);
    await page.focus('#text .token[tabindex="0"]');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    assert.match(await page.textContent('#token h2'), /Token 1/);
    quiet();
    await close();
  });

  test('charts are saved as SVG without variables, numbers as CSV', async () => {
    const {page, quiet, close} = await open(browser, path, {hash: '#token=2'});
    const table = await saved(page, () => page.click('#heads [aria-label^="Save these numbers"]'));
    const lines = table.trim().split('\r\n');
    assert.equal(lines.length, 1 + 12);
    assert.equal(Number(lines[1 + 4 + 2].split(',')[2]), Number(result.layers[1].heads[2].theta.mean.toPrecision(9)));
    for (const button of await page.$$('[aria-label="Save this chart as SVG"]')) {
      const svg = await saved(page, () => button.click());
      assert.match(svg, /^<svg[^>]* xmlns="http:\/\/www.w3.org\/2000\/svg"/);
      assert.doesNotMatch(svg, /var\(--/);
    }
    quiet();
    await close();
  });

  test('findings lead to where they show', async () => {
    const {page, quiet, close} = await open(browser, path, {hash: '#layer=0&head=0'});
    await page.click('[data-finding="saturated-heads"] a');
    assert.equal(await page.textContent('#head h2'), 'Layer 2, head 1');
    assert.match(page.url(), /metric=saturated_share/);
    await page.click('[data-finding="massive-activation"] a');
    assert.match(await page.textContent('#token h2'), /Token 0/);
    quiet();
    await close();
  });

  test('the licences of what is inside the page can be read', async () => {
    const {page, quiet, close} = await open(browser, path);
    const text = await page.textContent('#about');
    for (const name of ['vega-view', 'vega-scenegraph', 'd3-scale']) assert.ok(text.includes(name), name);
    assert.match(text, /Redistribution and use in source and binary forms/);
    quiet();
    await close();
  });
});

describe('two results', () => {
  test('their difference is B minus A, and the heads that differ most are listed', async () => {
    const {page, quiet, close} = await open(browser, makePage('two', result, other), {hash: '#view=difference'});
    const [from, to] = [result, other].map(doc => doc.layers[1].heads[2].theta.mean);
    const three = value => String(Number(value.toPrecision(3))).replace('-', '−');
    assert.equal(await label(page, cell(1, 2)), `layer 1, head 2: The theta, mean ${three(from)} in A, ${three(to)} in B, difference ${three(to - from)}`);
    const gaps = result.layers.flatMap((layer, l) => layer.heads.map((head, h) => ({l, h, gap: Math.abs(other.layers[l].heads[h].theta.mean - head.theta.mean)}))).sort((a, b) => b.gap - a.gap);
    assert.equal(await page.textContent('#compare .ranking a >> nth=0'), `Layer ${gaps[0].l}, head ${gaps[0].h}`);
    await page.click('#heads .switcher [data-value="b"]');
    assert.match(await label(page, cell(1, 2)), new RegExp(`${three(to)}$`));
    assert.equal(await page.locator('#verdict .verdict').count(), 2);
    quiet();
    await close();
  });

  test('of other shapes are shown side by side without a difference', async () => {
    const {page, quiet, close} = await open(browser, makePage('shapes', result, inspectResult({name: 'big', layers: 5, heads: 2, tokens: 100})));
    assert.equal(await page.locator('#heads .grid').count(), 2);
    assert.equal(await page.locator('#heads .switcher').count(), 0);
    assert.match(await page.textContent('#compare'), /different numbers of layers or heads/);
    quiet();
    await close();
  });
});

describe('a theta result', () => {
  test('shows its rows, its groups and what is no distribution', async () => {
    const doc = thetaResult();
    const {page, quiet, close} = await open(browser, makePage('theta', doc));
    assert.match(await page.textContent('#rows'), /3 rows are no distribution and have no θ: 3 do not sum to 1/);
    assert.equal(Number(await page.getAttribute('#rows tr[data-metric="theta"] td >> nth=4', 'data-value')), Number(doc.rows.theta.p25.toPrecision(9)));
    assert.match(await label(page, cell(1, 2, '#groups')), new RegExp(`index 1, 2: The theta ${Number(doc.groups[5].theta.mean.toPrecision(3))}`));
    assert.deepEqual(await axe(page), []);
    quiet();
    await close();
  });
});

describe('hostile names', () => {
  const hostile = '</script><script>alert(1)</script><img src=x onerror=alert(2)>';
  test('of models, files and tokens stay text', async () => {
    const doc = inspectResult({name: '<script>', input: hostile, text: Array.from({length: 12}, (_, at) => [hostile, '</script>', '<!--', '\u0001', '‮', '{{softscope-title}}'][at % 6])});
    doc.findings[0].text = hostile;
    doc.findings[0].id = hostile;
    doc.metrics.push({name: hostile, label: hostile, unit: hostile, min: 0, max: 1, scope: 'head', definition: hostile, source: hostile});
    doc.layers[0].heads[0][hostile] = 0.5;
    const {page, quiet, close} = await open(browser, makePage('hostile', doc), {hash: '#token=1'});
    assert.match(await page.title(), /^<script>/);
    assert.equal(await page.textContent('h1'), '<script>');
    assert.match(await page.textContent('#token h2'), /<\/script>/);
    assert.ok((await page.textContent('#verdict')).includes(hostile));
    assert.equal(await page.locator('img').count(), 0);
    quiet();
    await close();
  });
});

describe('a result with parts missing', () => {
  const without = (...paths) => {
    const doc = structuredClone(result);
    for (const path of paths) {
      const holders = path.startsWith('heads.') ? doc.layers.flatMap(({heads}) => heads) : path.startsWith('layers.') ? doc.layers : [doc];
      for (const holder of holders) delete holder[path.split('.').at(-1)];
    }
    return doc;
  };
  const rows = ['entropy', 'entropy_norm', 'p_max', 'theta', 'theta_cert', 'jac_2'].map(name => `heads.${name}`);
  for (const [name, doc, sections] of [
    ['no rows', without(...rows, 'heads.profile'), /heads layers head text token/],
    ['no maps', without('heads.map'), /^verdict heads layers head text about$/],
    ['no hidden states', without('layers.hidden', 'embedding', 'final'), /layers/],
    ['no heads', without('layers.heads', 'layers.pooled'), /^verdict layers text about$/],
    ['no layers', without('layers'), /^verdict text about$/],
    ['no text and no output', (() => { const doc = without('output'); delete doc.input.text; return doc; })(), /text token/],
    ['nothing but its command', {softscope: '0.1.0', schema: 1, command: 'inspect'}, /^verdict about$/],
    ['a command of the future', {softscope: '0.1.0', schema: 1, command: 'dream'}, /^unknown about$/],
  ])
    test(`opens with ${name}`, async () => {
      const {page, quiet, close} = await open(browser, makePage('parts', doc), {hash: '#token=2&layer=1&head=1'});
      assert.match((await page.$$eval('main > section', list => list.map(({id}) => id))).join(' '), sections);
      quiet();
      await close();
    });
});

describe('every reader', () => {
  for (const scheme of ['light', 'dark'])
    for (const width of [1280, 390])
      test(`finds no barrier in ${scheme} at ${width} pixels`, async () => {
        const {page, quiet, close} = await open(browser, makePage(`axe-${scheme}-${width}`, result, other), {scheme, width, hash: '#token=2'});
        await page.$$eval('details', list => list.forEach(each => { each.open = true; }));
        assert.deepEqual(await axe(page), []);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the screen');
        quiet();
        await close();
      });

  test('can choose light or dark, and paper is always light', async () => {
    const {page, quiet, close} = await open(browser, makePage('theme', result), {scheme: 'dark'});
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await ground();
    await page.click('.top .switcher [data-value="light"]');
    assert.notEqual(await ground(), dark);
    await page.click('.top .switcher [data-value="dark"]');
    assert.equal(await ground(), dark);
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    assert.notEqual(await ground(), dark);
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    assert.equal(await ground(), dark);
    quiet();
    await close();
  });

  test('sees no jump when choices change', async () => {
    const {page, quiet, close} = await open(browser, makePage('jump', result));
    const place = () => page.evaluate(() => document.querySelector('#layers').getBoundingClientRect().top + scrollY);
    const before = await place();
    for (const metric of ['p_max', 'max_logit', 'first_key', 'theta']) {
      await page.selectOption('#heads select >> nth=0', metric);
      assert.equal(await place(), before);
    }
    quiet();
    await close();
  });

  test('is told politely when the browser is too old', async () => {
    const context = await browser.newContext();
    await context.addInitScript(() => { delete window.DecompressionStream; });
    const page = await context.newPage();
    await page.goto(`file://${makePage('old', result)}`);
    await page.waitForSelector('[role="alert"]');
    assert.match(await page.textContent('[role="alert"]'), /too old/);
    await context.close();
  });
});
