// One token: which heads attend to it, read from the columns of their maps.
import {amount, gradient} from '../colour.js';
import {h, replace} from '../dom.js';
import {figure} from '../figure.js';
import {number, percent, visible} from '../format.js';
import {createGrid, legend} from '../grid.js';
import {binPlace, binText} from '../map.js';
import {binOf, binRange, hasMaps, hasRows, headAt, mapBytes, mapWeight, tokenCount, tokenText} from '../result.js';

const TOP = 6;

// Mean weight on the key bin of a token over the query bins that can see it; null without a map.
function attention(doc, head, token) {
  const map = head?.map;
  if (!map || !mapBytes(map)) return null;
  const total = tokenCount(doc), key = binOf(token, map.keys, total);
  const first = doc.model?.causal ? binOf(binRange(key, map.keys, total)[0], map.queries, total) : 0;
  let sum = 0, counted = 0;
  for (let query = first; query < map.queries; query++) {
    if (!hasRows(map, query)) continue;
    sum += mapWeight(map, query, key);
    counted++;
  }
  return counted ? sum / counted : null;
}

export const tokenSection = {
  id: 'token', title: 'One token',
  applies: ({a}) => hasMaps(a),
  mount(context) {
    const {a, state} = context;
    const heading = h('h2'), empty = h('p', {class: 'notice'}, 'Choose a token in the text, or a column of a map, to see which heads attend to it.');
    const top = h('ol', {class: 'ranking'}), key = h('div');
    const grid = createGrid({label: 'Attention to the chosen token, by layer and head', heads: a.layers.map(layer => layer.heads.length), onpick: (layer, head) => state.set({layer, head})});
    let values = [];
    const frame = figure({title: 'Who attends to it', svg: () => grid.svg(), wide: true,
      rows: () => [['layer', 'head', 'mean weight'], ...values.flatMap((row, layer) => row.map((value, head) => [layer, head, value]))]});
    replace(frame.body, grid.node, key);
    const body = h('div', {class: 'token-layout'}, frame.node, h('div', {class: 'card'}, h('h3', {}, 'Most attentive heads'), top));
    const node = h('section', {id: 'token', class: 'panel'}, h('div', {class: 'panel-head'}, heading), empty, body);
    function draw({token}) {
      empty.hidden = token !== null;
      body.hidden = token === null;
      if (token === null) { heading.textContent = 'One token'; return; }
      values = a.layers.map((layer, l) => layer.heads.map((_, head) => attention(a, headAt(a, l, head), token)));
      const map = headAt(a, 0, 0)?.map, total = tokenCount(a), bin = map ? binOf(token, map.keys, total) : token;
      const range = map && binRange(bin, map.keys, total), shared = range && range[0] < range[1];
      heading.textContent = `Token ${token} “${visible(tokenText(a, token))}”`;
      frame.say(`The mean share of attention on ${shared ? `${binPlace(bin, map.keys, total)} “${binText(a, bin, map.keys)}”, which the maps keep together,` : 'this token'} from the tokens that can see it. Choose a cell to open that head above.`);
      const most = Math.max(0.01, ...values.flat().map(value => value ?? 0));
      grid.draw({value: (l, head) => values[l][head], colour: value => amount(value / most), warned: [],
        tell: (l, head) => (values[l][head] === null ? `layer ${l}, head ${head}: no map or no token that can see it` : `layer ${l}, head ${head} puts ${percent(values[l][head])} of its attention here`)});
      replace(key, legend(gradient(amount), '0', number(most, 2)));
      const ranked = values.flatMap((row, layer) => row.map((value, head) => ({layer, head, value}))).filter(({value}) => value !== null).sort((one, two) => two.value - one.value);
      replace(top, ranked.slice(0, TOP).map(({layer, head, value}) => h('li', {}, context.jump({layer, head}, 'head', `Layer ${layer}, head ${head}`), ` ${percent(value)}`)));
    }
    return {
      node,
      update(chosen, changed) {
        if (changed.has('token')) draw(chosen);
        if (changed.has('layer') || changed.has('head')) grid.choose(chosen.layer, chosen.head);
      },
    };
  },
};
