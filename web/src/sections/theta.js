// A theta result: rows of weights or logits from a file, their distribution, and the groups of an array with leading
// dimensions as a grid.
import {amount, gradient} from '../colour.js';
import {createChart} from '../chart.js';
import {choice, h, replace} from '../dom.js';
import {figure} from '../figure.js';
import {count, number, whole} from '../format.js';
import {createGrid, legend} from '../grid.js';
import {binRange, extent, fixedRange, isSummary, metricInfo, pick, shortName} from '../result.js';
import {definitionCard, STATISTICS} from './heads.js';

const BOXED = ['theta', 'theta_cert', 'entropy_norm', 'p_max'];
const QUANTILES = STATISTICS.map(([name]) => name);

const REASONS = {sum: 'do not sum to 1', negative: 'hold a negative weight', not_finite: 'hold a NaN or an infinity', outside_support: 'hold weight on keys that they may not see'};

// What the numbers leave out, in a sentence.
function leftOut({rows = {}}) {
  const broken = rows.not_distribution;
  const why = Object.entries(broken?.reasons ?? {}).map(([reason, n]) => `${whole(n)} ${REASONS[reason] ?? reason}`).join(', ');
  return [`${count(rows.count ?? 0, 'row')}; ${whole(rows.single_key_rows ?? 0)} with a single key and ${whole(rows.masked_rows ?? 0)} with every key masked are counted apart. `,
    broken?.count > 0 && h('b', {class: 'warning'}, `${count(broken.count, 'row is no distribution', 'rows are no distribution')} and have no θ: ${why}.`)];
}

const boxedRows = results => results.flatMap(([series, doc]) => BOXED.filter(name => isSummary(doc.rows?.[name]))
  .map(name => ({...doc.rows[name], series, measure: metricInfo(doc, name).label})));

function summaries(a, measures) {
  return h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Summaries of all rows'}, h('table', {class: 'numbers'},
    h('thead', {}, h('tr', {}, h('th', {scope: 'col'}, 'of all rows'), QUANTILES.map(q => h('th', {scope: 'col'}, q)))),
    h('tbody', {}, measures.map(([name, summary]) => h('tr', {'data-metric': name}, h('th', {scope: 'row', title: metricInfo(a, name).definition}, metricInfo(a, name).label),
      QUANTILES.map(q => h('td', {'data-value': summary[q]}, number(summary[q], 4))))))));
}

const scalars = a => h('dl', {class: 'scalars'}, Object.entries(a.rows ?? {}).filter(([, value]) => typeof value === 'number')
  .map(([name, value]) => h('div', {'data-metric': name}, h('dt', {title: metricInfo(a, name).definition}, metricInfo(a, name).label.replaceAll('_', ' ')), h('dd', {'data-value': value}, number(value, 4)))));

export const thetaRowsSection = {
  id: 'rows', title: 'Rows',
  mount({a, b}) {
    const results = [['A', a], ...(b ? [['B', b]] : [])];
    const chart = createChart('boxes', {height: 190, tip: d => d.median !== undefined && `${d.measure}: median ${number(d.median)}, half between ${number(d.p25)} and ${number(d.p75)}`});
    const measures = Object.entries(a.rows ?? {}).filter(([, value]) => isSummary(value));
    const frame = figure({title: 'All rows', level: 2, svg: () => chart.svg(),
      rows: () => [['result', 'measure', ...QUANTILES], ...results.flatMap(([series, doc]) => measures.map(([name]) => [series, name, ...QUANTILES.map(q => pick(doc.rows, name, q))]))]});
    frame.say(leftOut(a), b && [' ', h('span', {class: 'swatch a'}), shortName(a, b), ' ', h('span', {class: 'swatch b'}), shortName(b, a)]);
    const boxes = boxedRows(results);
    chart.draw({data: {rows: boxes}, label: boxes.map(row => `${row.measure}: median ${number(row.median)}`).join(', ') || 'No rows'});
    frame.body.append(chart.node, summaries(a, measures), scalars(a));
    return {node: h('section', {id: 'rows', class: 'panel'}, frame.node)};
  },
};

export const thetaProfileSection = {
  id: 'profile', title: 'Positions',
  applies: ({a}) => Object.keys(a.rows?.profile ?? {}).length > 0,
  mount({a, b, state}) {
    const names = Object.keys(a.rows.profile);
    const chart = createChart('line', {height: 170, tip: d => d.value !== undefined && `positions ${d.position} to ${d.to}: ${number(d.value)}`});
    const select = choice({label: 'Show', value: state.get().profile, options: names.map(name => [name, metricInfo(a, name).label]), onchange: profile => state.set({profile})});
    let rows = [];
    const frame = figure({title: 'Along the queries', level: 2, svg: () => chart.svg(), rows: () => [['result', 'from', 'to', state.get().profile], ...rows.map(row => [row.series, row.position, row.to, row.value])]});
    replace(frame.body, h('div', {class: 'controls'}, select.node), chart.node);
    return {
      node: h('section', {id: 'profile', class: 'panel'}, frame.node),
      update(chosen, changed) {
        if (!changed.has('profile')) return;
        const name = names.includes(chosen.profile) ? chosen.profile : names[0], info = metricInfo(a, name);
        rows = [['A', a], ...(b ? [['B', b]] : [])].flatMap(([series, doc]) => {
          const values = doc.rows?.profile?.[name] ?? [], total = doc.input?.shape?.at(-2) ?? values.length;
          return values.flatMap((value, bin) => {
            const [position, to] = binRange(bin, values.length, total);
            return value === null ? [] : [{series, position, to, value}];
          });
        });
        const [lo, hi] = fixedRange(info) ?? extent(rows.map(row => row.value));
        chart.draw({data: {rows, marks: []}, signals: {lo, hi, xlo: 0, xhi: Math.max(1, ...rows.map(row => row.to))}, label: `${info.label} by the position of the query: ${rows.length} values`});
        select.select.value = name;
        frame.say(h('b', {}, info.label), ' of the rows at each position of the query, over all groups.');
      },
    };
  },
};

// Groups as a grid: the last leading dimension runs down, those before it run to the right; a single one runs to the right.
function arrange(groups) {
  const columns = new Map(), flat = groups[0].index.length === 1;
  for (const group of groups) {
    const column = (flat ? group.index : group.index.slice(0, -1)).join(',');
    if (!columns.has(column)) columns.set(column, []);
    columns.get(column)[flat ? 0 : group.index.at(-1)] = group;
  }
  return [...columns].map(([name, list]) => ({name, list: Array.from(list, group => group ?? null)}));
}

export const thetaGroupsSection = {
  id: 'groups', title: 'Groups',
  applies: ({a}) => a.groups?.length > 1,
  mount({a, state}) {
    const columns = arrange(a.groups);
    const at = (column, row) => columns[column]?.list[row] ?? null;
    const names = Object.keys(a.rows).filter(name => isSummary(a.rows[name]));
    const metric = choice({label: 'Metric', value: state.get().metric, options: names.map(name => [name, metricInfo(a, name).label]), onchange: value => state.set({metric: value})});
    const statistic = choice({label: 'of its rows', value: state.get().stat, options: STATISTICS, onchange: stat => state.set({stat})});
    const grid = createGrid({label: 'Groups', axes: [a.groups[0].index.length > 2 ? 'group' : 'first', 'last'], heads: columns.map(({list}) => list.length), onpick: (layer, head) => state.set({layer, head})});
    const card = h('div', {class: 'card'}), key = h('div');
    const frame = figure({title: 'Groups', level: 2, wide: true, svg: () => grid.svg(), rows: () => [['index', ...QUANTILES.map(q => `${state.get().metric} ${q}`)], ...a.groups.map(group => [group.index.join(' '), ...QUANTILES.map(q => pick(group, state.get().metric, q))])]});
    replace(frame.body, h('div', {class: 'controls'}, metric.node, statistic.node), h('div', {class: 'heads-layout'}, h('div', {class: 'grid-place'}, grid.node, key), card));
    return {
      node: h('section', {id: 'groups'}, frame.node),
      update(chosen) {
        const name = names.includes(chosen.metric) ? chosen.metric : names[0];
        const value = (column, row) => pick(at(column, row), name, chosen.stat);
        const range = fixedRange(metricInfo(a, name)) ?? extent(a.groups.map(group => pick(group, name, chosen.stat)));
        grid.draw({value, colour: v => amount((v - range[0]) / (range[1] - range[0])), warned: [],
          tell: (column, row) => `index ${at(column, row)?.index.join(', ')}: ${metricInfo(a, name).label} ${number(value(column, row))}`});
        grid.choose(chosen.layer, chosen.head);
        replace(key, legend(gradient(amount), number(range[0]), number(range[1])));
        metric.select.value = name;
        frame.say('One cell a group of rows: the leading dimensions of the array.');
        const group = at(chosen.layer, chosen.head);
        replace(card, h('h3', {}, metricInfo(a, name).label), definitionCard(a, name), group && [h('h3', {}, `Index ${group.index.join(', ')}`),
          h('dl', {class: 'card-facts'}, QUANTILES.map(q => [h('dt', {}, q), h('dd', {'data-value': pick(group, name, q)}, number(pick(group, name, q), 4))]))]);
      },
    };
  },
};
