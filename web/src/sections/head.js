// One head: what it does in plain words, its rows, theta along the text, its map, its strongest keys, its numbers.
import {createChart} from '../chart.js';
import {choice, h, replace} from '../dom.js';
import {figure} from '../figure.js';
import {number, roundUp, visible} from '../format.js';
import {binText, binPlace, createMap} from '../map.js';
import {binRange, extent, fixedRange, headAt, headMetrics, isSummary, metricInfo, shortName, tokenCount, tokenText} from '../result.js';
import {diagnosis} from '../words.js';

const BOXED = ['theta', 'theta_cert', 'entropy_norm', 'p_max'];
const STATISTICS = ['mean', 'min', 'p5', 'p25', 'median', 'p75', 'p95', 'max'];

// The head of each result that has it: [[series, doc, head], ...].
const headsOf = ({a, b}, {layer, head}) => [['A', a], ['B', b]].flatMap(([name, doc]) => {
  const found = doc && headAt(doc, layer, head);
  return found ? [[name, doc, found]] : [];
});

function boxesFigure(context) {
  const chart = createChart('boxes', {height: 190, tip: d => d.median !== undefined && `${d.measure}, ${d.who}: median ${number(d.median)}, half between ${number(d.p25)} and ${number(d.p75)}, least ${number(d.min)}, largest ${number(d.max)}`});
  let rows = [];
  const frame = figure({title: 'Its rows', svg: () => chart.svg(), rows: () => [['who', 'measure', ...STATISTICS], ...rows.map(row => [row.who, row.name, ...STATISTICS.map(q => row[q])])]});
  frame.body.append(chart.node);
  return {
    node: frame.node,
    update(chosen) {
      const heads = headsOf(context, chosen);
      rows = BOXED.flatMap(name => {
        const measure = metricInfo(context.a, name).label;
        const own = heads.flatMap(([series, , head]) => (isSummary(head[name]) ? [{...head[name], series, name, measure, who: context.b ? `this head in ${series}` : 'this head'}] : []));
        const pooled = context.a.layers[chosen.layer]?.pooled?.[name];
        return own.length && isSummary(pooled) && !context.b ? [...own, {...pooled, series: 'layer', name, measure, who: 'the whole layer'}] : own;
      });
      frame.say('The tick is the median; the bar holds half of the rows, the thick line nine tenths. ', context.b
        ? [h('span', {class: 'swatch a'}), 'A ', h('span', {class: 'swatch b'}), 'B']
        : [h('span', {class: 'swatch a'}), 'this head ', h('span', {class: 'swatch c'}), 'all heads of its layer']);
      frame.node.hidden = rows.length === 0;
      chart.draw({data: {rows}, label: rows.map(row => `${row.measure} of ${row.who}: median ${number(row.median)}`).join(', ')});
    },
  };
}

function profileFigure(context) {
  const {a, state} = context;
  const names = Object.keys(a.layers.flatMap(layer => layer.heads).find(head => head.profile)?.profile ?? {});
  if (!names.length) return null;
  const chart = createChart('line', {height: 160, pick: d => Number.isInteger(d.position) && state.set({token: d.position}), tip: d => d.value !== undefined && `${context.b ? `${d.series}, ` : ''}${d.place}: ${number(d.value)}`});
  let rows = [];
  const frame = figure({title: 'Along the text', svg: () => chart.svg(), rows: () => [['result', 'from', 'to', state.get().profile], ...rows.map(row => [row.series, row.position, row.to, row.value])]});
  const select = choice({label: 'Show', value: state.get().profile, options: names.map(name => [name, metricInfo(a, name).label]), onchange: profile => state.set({profile})});
  replace(frame.body, h('div', {class: 'controls'}, select.node), chart.node);
  return {
    node: frame.node,
    update(chosen) {
      const name = names.includes(chosen.profile) ? chosen.profile : names[0];
      rows = headsOf(context, chosen).flatMap(([series, doc, head]) => {
        const values = head.profile?.[name] ?? [], total = tokenCount(doc);
        return values.flatMap((value, bin) => {
          const [from, to] = binRange(bin, values.length, total);
          return value === null ? [] : [{series, position: from, to, value, place: `${binPlace(bin, values.length, total)} “${binText(doc, bin, values.length)}”`}];
        });
      });
      frame.node.hidden = rows.length === 0;
      const info = metricInfo(a, name);
      const [lo, hi] = fixedRange(info) ?? extent(rows.map(row => row.value));
      const last = Math.max(1, ...rows.map(row => row.to));
      const closing = [...new Set(rows.map(row => row.series))].map(series => rows.findLast(row => row.series === series)).map(row => ({...row, position: row.to}));
      chart.draw({
        data: {rows: [...rows, ...closing.filter(row => row.to > rows.findLast(other => other.series === row.series).position)], marks: chosen.token === null ? [] : [{position: chosen.token}]},
        signals: {lo, hi, xlo: 0, xhi: last}, label: `${info.label} by position: ${rows.length} values from ${number(extent(rows.map(row => row.value))[0])} to ${number(extent(rows.map(row => row.value))[1])}`,
      });
      select.select.value = name;
      frame.say(h('b', {}, info.label), ' of the row at each position', tokenCount(a) > 64 ? ' (means of neighbouring positions).' : '.');
    },
  };
}

function mapFigure(context) {
  const {state} = context;
  const maps = [['A', context.a], ...(context.b ? [['B', context.b]] : [])].map(([series, doc]) => ({series, doc, map: createMap({onpick: token => series === 'A' && state.set({token})})}));
  const frame = figure({title: 'Who looks at whom', wide: true, svg: () => maps[0].map.svg(), rows: () => maps[0].map.rows()});
  frame.say('Each row is a token that looks, each column a token looked at; ', h('span', {class: 'map-scale'}, 'dark 0', h('span', {class: 'legend-bar viridis'}), 'bright 1'), ' is the share of its attention. Colours follow the square root, so that weak links show.');
  const none = h('p', {class: 'notice', hidden: true}, 'This result holds no map of this head.');
  replace(frame.body, h('div', {class: maps.length > 1 ? 'pair maps' : 'maps'}, maps.map(({series, doc, map}) =>
    h('div', {}, context.b && h('p', {class: 'series-name'}, h('span', {class: `swatch ${series.toLowerCase()}`}), shortName(doc, series === 'A' ? context.b : context.a)), map.node))), none);
  return {
    node: frame.node,
    update(chosen, changed) {
      if (changed.has('layer') || changed.has('head'))
        for (const {doc, map} of maps) map.draw(doc, headAt(doc, chosen.layer, chosen.head), `Attention map of layer ${chosen.layer}, head ${chosen.head}`);
      none.hidden = !maps.every(({map}) => map.node.hidden);
      for (const {doc, map} of maps) map.choose(chosen.token !== null && chosen.token < tokenCount(doc) ? chosen.token : null);
    },
  };
}

function keysFigure(context) {
  const {state} = context;
  const chart = createChart('bars', {height: 130, pick: d => Number.isInteger(d.key) && state.set({token: d.key}), tip: d => d.weight !== undefined && `${d.label}: ${number(d.weight)}`});
  let rows = [];
  const frame = figure({title: 'Strongest keys', svg: () => chart.svg(), rows: () => [['key', 'token', 'mean weight'], ...rows.map(row => [row.key, tokenText(context.a, row.key), row.weight])]});
  frame.say('The five tokens that receive the largest mean share of this head’s attention from those who can see them.');
  frame.body.append(chart.node);
  return {
    node: frame.node,
    update(chosen) {
      const head = headAt(context.a, chosen.layer, chosen.head);
      rows = (head?.top_keys ?? []).map(({key, weight}) => ({series: 'A', key, weight, label: `${key} “${visible(tokenText(context.a, key))}”`}));
      frame.node.hidden = rows.length === 0;
      chart.draw({data: {rows}, signals: {hi: roundUp(Math.max(0.01, ...rows.map(row => row.weight)), 1)}, label: rows.map(row => `${row.label} ${number(row.weight)}`).join(', ')});
    },
  };
}

// All numbers of a head: row measures with their summary, then its scalars.
function numbers(doc, head, series) {
  const summaries = Object.entries(head).filter(([, value]) => isSummary(value));
  const scalars = Object.entries(head).filter(([name, value]) => (typeof value === 'number' || value === null) && name !== 'index');
  const name = metric => h('th', {scope: 'row', title: metricInfo(doc, metric).definition}, metricInfo(doc, metric).label);
  const scroll = (label, table) => h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label}, table);
  return [
    scroll(`Summaries of rows ${series}`, h('table', {class: 'numbers'}, h('thead', {}, h('tr', {}, h('th', {scope: 'col'}, 'of its rows'), STATISTICS.map(q => h('th', {scope: 'col'}, q)))),
      h('tbody', {}, summaries.map(([metric, summary]) => h('tr', {'data-metric': metric}, name(metric), STATISTICS.map(q => h('td', {'data-value': summary[q]}, number(summary[q], 4)))))))),
    h('dl', {class: 'scalars'}, scalars.map(([metric, value]) => h('div', {'data-metric': metric}, h('dt', {title: metricInfo(doc, metric).definition}, metricInfo(doc, metric).label === metric ? metric.replaceAll('_', ' ') : metricInfo(doc, metric).label),
      h('dd', {'data-value': value}, value === null ? `absent: ${head.absent?.[metric] ?? '–'}` : number(value, 4))))),
  ];
}

export const headSection = {
  id: 'head', title: 'One head',
  applies: ({a}) => headMetrics(a).length > 0,
  mount(context) {
    const {a, state} = context;
    const heading = h('h2'), says = h('div', {class: 'diagnosis'}), table = h('div');
    const layer = choice({label: 'Layer', value: String(state.get().layer), options: a.layers.map(({index}) => [String(index), String(index)]), onchange: value => state.set({layer: Number(value)})});
    const head = choice({label: 'Head', value: String(state.get().head), options: a.layers[0].heads.map(({index}) => [String(index), String(index)]), onchange: value => state.set({head: Number(value)})});
    const map = mapFigure(context);
    const parts = [boxesFigure(context), profileFigure(context), keysFigure(context)].filter(Boolean);
    const details = h('details', {class: 'all-numbers'}, h('summary', {}, 'All numbers of this head'), table);
    const node = h('section', {id: 'head', class: 'panel'},
      h('div', {class: 'panel-head'}, heading, h('div', {class: 'controls'}, layer.node, head.node)), says,
      h('div', {class: 'head-layout'}, map.node, h('div', {class: 'stack'}, parts.map(part => part.node))), details);
    function describe(chosen) {
      heading.textContent = `Layer ${chosen.layer}, head ${chosen.head}`;
      layer.select.value = String(chosen.layer);
      head.select.value = String(chosen.head);
      const found = headsOf(context, chosen);
      replace(says, found.map(([series, doc, each]) => [
        context.b && h('p', {class: 'series-name'}, h('span', {class: `swatch ${series.toLowerCase()}`}), shortName(doc, series === 'A' ? context.b : context.a)),
        h('ul', {class: 'plain-list'}, diagnosis(doc, each).map(({text, tone}) => h('li', {class: tone}, text))),
      ]));
      replace(table, found.map(([series, doc, each]) => [context.b && h('h4', {}, series), numbers(doc, each, context.b ? `in ${series}` : '')]));
    }
    return {
      node,
      update(chosen, changed) {
        const moved = changed.has('layer') || changed.has('head');
        if (moved) describe(chosen);
        if (moved || changed.has('token')) map.update(chosen, changed);
        if (moved || changed.has('token') || changed.has('profile')) parts.forEach(part => part.update(chosen));
      },
    };
  },
};
