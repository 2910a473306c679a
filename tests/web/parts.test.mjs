// The page's small parts without a browser: numbers as text, bins, addresses, CSV.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {number, percent, short, visible, big} from '../../web/src/format.js';
import {binOf, binRange, complete, extent, findingGroups, phrase, shortName} from '../../web/src/result.js';
import {parse, write} from '../../web/src/state.js';
import {csv} from '../../web/src/dom.js';
import {verdict} from '../../web/src/words.js';

test('numbers keep their size and sign', () => {
  assert.deepEqual([0, 0.98234, 22543.4, -0.5, 1.2345e-5, 1e9, null, NaN, Infinity].map(value => number(value)),
    ['0', '0.982', '22,543', '−0.5', '1.2×10⁻⁵', '1.0×10⁹', '–', '–', '–']);
  assert.deepEqual([1, 0.999, 0.984, 0.004, 12.3, -0.31, 22543, null].map(short), ['1', '1', '.98', '0', '12', '−.31', '2e4', '']);
  assert.deepEqual([134515008, 12345, 12, undefined].map(big), ['134.5 M', '12.35 k', '12', '–']);
});

test('a share never rounds to all or nothing', () => {
  assert.deepEqual([0, 0.00001, 0.123, 0.99999, 1].map(percent), ['0 %', 'under 0.1 %', '12 %', 'over 99.9 %', '100 %']);
});

test('blanks of a token can be seen', () => {
  assert.deepEqual(['', ' the', '\n', 'a\tb', '  '].map(visible), ['∅', '␣the', '⏎', 'a⇥b', '␣␣']);
});

test('every position lies in its bin, for any number of bins', () => {
  for (const [total, bins] of [[79, 64], [64, 64], [1024, 64], [65, 64], [7, 7], [1, 1], [513, 256]])
    for (let position = 0; position < total; position++) {
      const [from, to] = binRange(binOf(position, bins, total), bins, total);
      assert.ok(from <= position && position <= to, `${position} of ${total} in ${bins}`);
    }
});

test('an address comes back as the choice it was made from', () => {
  const defaults = {layer: 0, head: 0, metric: 'theta', token: null};
  const chosen = {layer: 3, head: 5, metric: 'p_max', token: 7};
  assert.deepEqual({...defaults, ...parse(write(chosen, defaults))}, chosen);
  assert.equal(write(defaults, defaults), '');
  assert.deepEqual(parse('#layer=-1&head=1e3&metric=a%26b'), {metric: 'a&b'});
});

test('a spreadsheet reads names as text, never as formulas', () => {
  assert.equal(csv([['=1+1', 'a,b', 'say "x"', -3, null]]), "'=1+1,\"a,b\",\"say \"\"x\"\"\",-3,\r\n");
});

test('heads that were not measured keep their place', () => {
  const doc = complete({model: {layers: 3, heads: 2}, layers: [{index: 2, heads: [{index: 1, theta: 1}]}]});
  assert.deepEqual(doc.layers.map(({heads}) => heads.length), [2, 2, 2]);
  assert.equal(doc.layers[2].heads[1].theta, 1);
  assert.ok(doc.layers[0].heads[0].missing);
});

test('ranges of nothing and of one value have a width', () => {
  assert.deepEqual(extent([]), [0, 1]);
  assert.deepEqual(extent([null, 2, 2]), [1, 3]);
  assert.deepEqual(extent([0]), [-0.5, 0.5]);
});

test('word pieces are written together', () => {
  assert.equal(phrase({model: {architecture: 'bert'}, input: {text: ['light', '##house', 'keeper']}}, 0, 2), 'lighthouse keeper');
  assert.equal(phrase({model: {architecture: 'llama'}, input: {text: ['light', 'house', ' keeper']}}, 0, 2), 'lighthouse keeper');
});

test('names tell two results apart by model, text or number type', () => {
  const doc = (name, input, dtype) => ({model: {name}, input: {name: input}, settings: {dtype}});
  assert.equal(shortName(doc('a', 't', 'f32'), doc('b', 't', 'f32')), 'a');
  assert.equal(shortName(doc('a', 't', 'f32'), doc('a', 'u', 'f32')), 't');
  assert.equal(shortName(doc('a', 't', 'f32'), doc('a', 't', 'bf16')), 'f32');
});

test('the verdict follows the most severe finding', () => {
  const level = (...severities) => verdict({command: 'inspect', findings: severities.map((severity, id) => ({id: `${id}`, severity, text: ''}))}).level;
  assert.deepEqual([level(), level('info'), level('info', 'warning'), level('warning', 'error')], ['good', 'good', 'warning', 'error']);
});

test('findings of a kind stand together, the most severe kind first', () => {
  const groups = findingGroups({findings: [{id: 'a', severity: 'info'}, {id: 'b', severity: 'error'}, {id: 'a', severity: 'info'}]});
  assert.deepEqual(groups.map(({id, list}) => [id, list.length]), [['b', 1], ['a', 2]]);
});
