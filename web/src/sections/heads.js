// Every head at a glance: layers x heads, one metric at a time, and the difference of two results.
import {amount, difference, gradient} from '../colour.js';
import {choice, h, replace, switcher} from '../dom.js';
import {figure} from '../figure.js';
import {number, short} from '../format.js';
import {createGrid, legend} from '../grid.js';
import {extent, fixedRange, headAt, headMetrics, metricInfo, pick, reason, sameShape, shortName} from '../result.js';
import {PLAIN} from '../words.js';

export const STATISTICS = [['mean', 'mean'], ['median', 'median'], ['min', 'least'], ['p5', '5th percentile'], ['p25', '25th percentile'], ['p75', '75th percentile'], ['p95', '95th percentile'], ['max', 'largest']];
const spoken = Object.fromEntries(STATISTICS);
const GROUPS = [['row', 'Over the rows of a head'], ['head', 'Of a head']];

// The name of what is shown: "θ, mean".
export function shownName(doc, {metric, stat}) {
  const info = headMetrics(doc).find(each => each.name === metric) ?? metricInfo(doc, metric);
  return info.summary ? `${info.label}, ${spoken[stat]}` : info.label;
}

export function definitionCard(doc, name) {
  const info = metricInfo(doc, name);
  const range = fixedRange(info);
  return [
    h('p', {class: 'card-plain'}, PLAIN[name] ?? info.definition),
    h('dl', {class: 'card-facts'},
      h('dt', {}, 'Definition'), h('dd', {}, info.definition || '–'),
      h('dt', {}, 'Unit'), h('dd', {}, info.unit || 'none', range ? `, from ${range[0]} to ${range[1]}` : ''),
      info.source && [h('dt', {}, 'Source'), h('dd', {}, info.source)]),
  ];
}

// Values of every head of a document: [[l][h]].
const table = (doc, {metric, stat}) => doc.layers.map(layer => layer.heads.map(head => pick(head, metric, stat)));

export const headsSection = {
  id: 'heads', title: 'Heads',
  applies: ({a}) => headMetrics(a).length > 0,
  mount(context) {
    const {a, b, state} = context;
    const comparable = b && sameShape(a, b);
    const metrics = headMetrics(a);
    const shape = doc => doc.layers.map(layer => layer.heads.length);
    const metricChoice = choice({
      label: 'Metric', value: state.get().metric, onchange: metric => state.set({metric}),
      options: GROUPS.map(([scope, label]) => [label, metrics.filter(metric => metric.scope === scope).map(({name, label: text}) => [name, text])]).filter(([, options]) => options.length),
    });
    const statChoice = choice({label: 'of its rows', value: state.get().stat, options: STATISTICS, onchange: stat => state.set({stat})});
    const views = !comparable ? null : switcher({
      label: 'Which result', value: state.get().view, onchange: view => state.set({view}),
      options: [['a', 'A'], ['b', 'B'], ['difference', 'B − A']],
    });
    const stretch = h('input', {type: 'checkbox', onchange: event => state.set({colours: event.target.checked ? 'data' : 'full'})});
    const card = h('div', {class: 'card'});
    const key = h('div', {class: 'legend-place'});
    const pick2 = (layer, head) => state.set({layer, head});
    const grid = createGrid({label: 'Layers and heads', heads: shape(a), onpick: pick2});
    const second = !b || comparable ? null : createGrid({label: `Layers and heads of ${shortName(b, a)}`, heads: shape(b), onpick: () => {}});
    const frame = figure({
      title: 'Every head at a glance', level: 2, wide: true, svg: () => grid.svg(),
      rows: () => {
        const chosen = state.get(), of = table(a, chosen), other = comparable && table(b, chosen);
        return [['layer', 'head', `${chosen.metric}`, ...(other ? [`${chosen.metric} B`, 'B - A'] : [])],
          ...of.flatMap((row, layer) => row.map((value, head) => [layer, head, value, ...(other ? [other[layer][head], minus(other[layer][head], value)] : [])]))];
      },
    });
    const minus = (to, from) => (to === null || from === null ? null : to - from);
    // Heads that a warning names, and those beyond its threshold where it is about the value of one metric.
    const warned = doc => (doc.findings ?? []).filter(({severity, head}) => severity !== 'info' && Number.isInteger(head)).flatMap(finding => {
      const of = head => pick(head, finding.metric, 'mean');
      const named = headAt(doc, finding.layer, finding.head);
      const about = typeof finding.threshold === 'number' && Math.abs(of(named) - finding.value) <= 1e-6 * Math.abs(finding.value);
      return doc.layers.flatMap((layer, l) => layer.heads.flatMap((head, at) => (head === named || (about && of(head) > finding.threshold) ? [[l, at]] : [])));
    });

    replace(frame.body,
      h('div', {class: 'controls'}, metricChoice.node, statChoice.node, views && views.node,
        h('label', {class: 'tick'}, stretch, 'stretch colours to the data')),
      h('div', {class: 'heads-layout'}, h('div', {class: 'grid-place'}, grid.node, key,
        second && [h('p', {class: 'series-name'}, h('span', {class: 'swatch b'}), shortName(b, a)), second.node]), card));

    function draw(chosen) {
      const info = metrics.find(metric => metric.name === chosen.metric) ?? metricInfo(a, chosen.metric);
      const valuesA = table(a, chosen), valuesB = b ? table(b, chosen) : null;
      const view = comparable ? chosen.view : 'a';
      const shown = view === 'b' ? valuesB : view === 'difference' ? valuesA.map((row, l) => row.map((value, head) => minus(valuesB[l][head], value))) : valuesA;
      const name = shownName(a, chosen);
      const everything = [...valuesA, ...(valuesB ?? [])].flat();
      const range = chosen.colours === 'full' && fixedRange(info) || extent(everything);
      const tell = (l, head) => {
        const place = `layer ${l}, head ${head}`;
        const value = shown[l][head];
        if (value === null) return `${place}: no value (${reason(headAt(a, l, head), chosen.metric)})`;
        return view === 'difference'
          ? `${place}: ${name} ${number(valuesA[l][head])} in A, ${number(valuesB[l][head])} in B, difference ${number(value)}`
          : `${place}: ${name} ${number(value)}`;
      };
      if (view === 'difference') {
        const reach = Math.max(...shown.flat().map(value => Math.abs(value ?? 0))) || 1;
        grid.draw({value: (l, head) => shown[l][head], colour: value => difference(0.5 + value / (2 * reach)), tell, warned: [],
          text: reach < 0.1 ? () => '' : short});
        replace(key, legend(gradient(difference), `−${number(reach)}: lower in B`, `higher in B: ${number(reach)}`));
      } else {
        const colour = value => amount((value - range[0]) / (range[1] - range[0]));
        grid.draw({value: (l, head) => shown[l][head], colour, tell, warned: warned(view === 'b' ? b : a)});
        replace(key, legend(gradient(amount), number(range[0]), number(range[1])), h('p', {class: 'legend-note'}, h('span', {class: 'warned-key'}), 'concerned by a warning'));
        if (second) second.draw({value: (l, head) => valuesB[l][head], colour, tell: (l, head) => `layer ${l}, head ${head}: ${name} ${number(valuesB[l][head])}`, warned: warned(b)});
      }
      frame.say(h('b', {}, name), view === 'difference' ? ': B minus A, one cell a head.' : ', one cell a head. Choose a cell to open that head below.');
      statChoice.node.classList.toggle('away', !info.summary);
      statChoice.select.disabled = !info.summary;
      metricChoice.select.value = chosen.metric;
      statChoice.select.value = chosen.stat;
      stretch.checked = chosen.colours === 'data';
      stretch.parentNode.classList.toggle('away', !fixedRange(info) || view === 'difference');
      views?.set(view);
      replace(card, h('h3', {}, info.label), definitionCard(a, chosen.metric));
    }
    const node = h('section', {id: 'heads'}, frame.node);
    return {
      node,
      update(chosen, changed) {
        if (['metric', 'stat', 'view', 'colours', 'theme'].some(name => changed.has(name))) draw(chosen);
        if (changed.has('layer') || changed.has('head')) grid.choose(chosen.layer, chosen.head);
      },
    };
  },
};
