// Two results side by side: their key figures, and the heads that differ most in the chosen metric.
import {h, replace} from '../dom.js';
import {number} from '../format.js';
import {headMetrics, metricInfo, pick, sameShape} from '../result.js';
import {keyFigures} from '../words.js';
import {shownName} from './heads.js';

const TOP = 8;

// What the two were made from, row by row; equal rows are left out.
function differences({a, b}) {
  const facts = doc => [['Model', doc.model?.name], ['File', doc.model?.file], ['Weights', doc.model?.weights], ['Text', doc.input?.name], ['Tokens', doc.input?.tokens], ['Computed in', doc.settings?.dtype]];
  const other = facts(b);
  return facts(a).map(([name, value], at) => [name, value, other[at][1]]).filter(([, one, two]) => one !== two);
}

export const compareSection = {
  id: 'compare', title: 'Compare',
  applies: ({a, b}) => b !== null && headMetrics(a).length > 0 && headMetrics(b).length > 0,
  mount(context) {
    const {a, b} = context;
    const figuresB = new Map(keyFigures(b).map(({label, value}) => [label, value]));
    const head = name => h('th', {scope: 'row'}, name);
    const rows = [...differences(context).map(([name, one, two]) => h('tr', {}, head(name), h('td', {}, String(one ?? '–')), h('td', {}, String(two ?? '–')))),
      ...keyFigures(a).map(({label, value}) => h('tr', {}, head(label), h('td', {}, value), h('td', {}, figuresB.get(label) ?? '–')))];
    const title = h('h3'), ranking = h('ol', {class: 'ranking'});
    const comparable = sameShape(a, b);
    const node = h('section', {id: 'compare', class: 'panel'}, h('h2', {}, 'Side by side'),
      h('div', {class: 'columns'},
        h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Key figures of both'}, h('table', {class: 'numbers'},
          h('thead', {}, h('tr', {}, h('th', {scope: 'col'}, 'Where they differ'),
            h('th', {scope: 'col'}, h('span', {class: 'swatch a'}), 'A'), h('th', {scope: 'col'}, h('span', {class: 'swatch b'}), 'B'))),
          h('tbody', {}, rows))),
        h('div', {}, title, comparable ? ranking : h('p', {class: 'notice'}, 'The two have different numbers of layers or heads, so single heads are not set against each other.'))));
    function draw(chosen) {
      title.textContent = comparable ? `Heads that differ most: ${shownName(a, chosen)}` : 'Heads';
      if (!comparable) return;
      const ranked = a.layers.flatMap((layer, l) => layer.heads.map((one, at) => {
        const from = pick(one, chosen.metric, chosen.stat), to = pick(b.layers[l].heads[at], chosen.metric, chosen.stat);
        return {layer: l, head: at, from, to, gap: from === null || to === null ? 0 : to - from};
      })).filter(({gap}) => gap !== 0).sort((one, two) => Math.abs(two.gap) - Math.abs(one.gap));
      replace(ranking, ranked.slice(0, TOP).map(({layer, head: at, from, to}) => h('li', {}, context.jump({layer, head: at}, 'head', `Layer ${layer}, head ${at}`), ` ${number(from)} → ${number(to)}`)));
      if (!ranked.length) replace(ranking, h('li', {}, `No head differs in ${(headMetrics(a).find(({name}) => name === chosen.metric) ?? metricInfo(a, chosen.metric)).label}.`));
    }
    return {node, update: (chosen, changed) => (changed.has('metric') || changed.has('stat')) && draw(chosen)};
  },
};
