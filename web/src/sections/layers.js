// From the first layer to the last: quantile bands of a measure over all heads, and the size of hidden states.
import {createChart} from '../chart.js';
import {h, replace} from '../dom.js';
import {figure} from '../figure.js';
import {number, visible} from '../format.js';
import {extent, fixedRange, hasHidden, headMetrics, isSummary, metricInfo, pick, shortName, tokenText} from '../result.js';
import {shownName} from './heads.js';

const BAND = ['p5', 'p25', 'median', 'p75', 'p95'];
const HIDDEN = [['max_abs', 'largest magnitude', 'solid'], ['block_inf_rms', 'largest token norm', 'dashed'], ['median_abs', 'median magnitude', 'dotted']];

const swatches = (a, b) => b && h('span', {class: 'key'},
  h('span', {class: 'swatch a'}), `A: ${shortName(a, b)} `, h('span', {class: 'swatch b'}), `B: ${shortName(b, a)}`);

const series = context => [['A', context.a], ...(context.b ? [['B', context.b]] : [])];
const lastLayer = context => Math.max(...series(context).map(([, doc]) => doc.layers.length)) - 1;

function bandsFigure(context) {
  const {a, b, state} = context;
  const pickLayer = datum => Number.isInteger(datum.layer) && state.set({layer: datum.layer});
  const bands = createChart('bands', {height: 300, pick: pickLayer, tip: d => d.median !== undefined && `${b ? `${d.series}, ` : ''}layer ${d.layer}: median ${number(d.median)}, half between ${number(d.p25)} and ${number(d.p75)}, nine tenths between ${number(d.p5)} and ${number(d.p95)}`});
  const dots = createChart('dots', {height: 300, pick: d => Number.isInteger(d.head) && state.set({layer: d.layer, head: d.head}), tip: d => d.head !== undefined && `${b ? `${d.series}, ` : ''}layer ${d.layer}, head ${d.head}: ${number(d.value)}`});
  let current = bands, sheet = [];
  const frame = figure({title: 'Through the layers', svg: () => current.svg(), rows: () => sheet});
  const place = h('div');
  frame.body.append(place);

  function drawBands(chosen, info) {
    const rows = series(context).flatMap(([name, doc]) => doc.layers.flatMap(layer => {
      const summary = layer.pooled?.[chosen.metric];
      return isSummary(summary) ? [{series: name, layer: layer.index, ...Object.fromEntries(BAND.map(q => [q, summary[q]]))}] : [];
    }));
    const [lo, hi] = fixedRange(info) ?? extent(rows.flatMap(row => [row.p5, row.p95]));
    bands.draw({
      data: {rows, marks: [{layer: chosen.layer}]}, signals: {lo, hi, xlo: 0, xhi: Math.max(1, lastLayer(context)), wide: b ? 0 : 0.18},
      label: `${info.label} through the layers: ${rows.filter(row => row.series === 'A').map(row => `layer ${row.layer} median ${number(row.median)}`).join(', ')}`,
    });
    sheet = [['result', 'layer', ...BAND], ...rows.map(row => [row.series, row.layer, ...BAND.map(q => row[q])])];
    frame.say(h('b', {}, info.label), ' over all rows of all heads: the line is the median, the ', b ? 'band holds half of the rows. ' : 'dark band holds half of the rows, the light one nine tenths. ', swatches(a, b));
    return bands;
  }
  function drawDots(chosen, info) {
    const rows = series(context).flatMap(([name, doc]) => doc.layers.flatMap(layer => layer.heads.flatMap(head => {
      const value = pick(head, chosen.metric, chosen.stat);
      return value === null ? [] : [{series: name, layer: layer.index, head: head.index, value}];
    })));
    const means = series(context).flatMap(([name, doc]) => doc.layers.flatMap(layer => {
      const values = rows.filter(row => row.series === name && row.layer === layer.index).map(row => row.value);
      return values.length ? [{series: name, layer: layer.index, value: values.reduce((sum, value) => sum + value, 0) / values.length}] : [];
    }));
    const [lo, hi] = fixedRange(info) ?? extent(rows.map(row => row.value));
    dots.draw({
      data: {rows, means, marks: [{layer: chosen.layer}]}, signals: {lo, hi, xlo: 0, xhi: Math.max(1, lastLayer(context))},
      label: `${info.label} of each head through the layers: means ${means.map(row => `layer ${row.layer} ${number(row.value)}`).join(', ')}`,
    });
    sheet = [['result', 'layer', 'head', chosen.metric], ...rows.map(row => [row.series, row.layer, row.head, row.value])];
    frame.say(h('b', {}, info.label), ': one dot a head, the line is their mean. ', swatches(a, b));
    return dots;
  }
  return {
    node: frame.node,
    update(chosen) {
      const info = headMetrics(a).find(metric => metric.name === chosen.metric) ?? metricInfo(a, chosen.metric);
      current = info.summary ? drawBands(chosen, info) : drawDots(chosen, info);
      if (place.firstChild !== current.node) replace(place, current.node);
      frame.title(`Through the layers: ${shownName(a, {...chosen, stat: 'median'}).replace(/, median$/, '')}`);
    },
  };
}

// Layers in a row with a massive activation at the same token and dimension, as one sentence part.
function massiveRuns(doc) {
  const runs = new Map();
  for (const layer of doc.layers)
    for (const {token, dimension, value} of layer.hidden?.massive ?? []) {
      const name = `${token} ${dimension}`;
      const run = runs.get(name) ?? runs.set(name, {token, dimension, from: layer.index, to: layer.index, value}).get(name);
      run.to = layer.index;
      if (Math.abs(value) > Math.abs(run.value)) run.value = value;
    }
  return [...runs.values()].sort((one, two) => Math.abs(two.value) - Math.abs(one.value));
}

function hiddenFigure(context) {
  const {a, b, state} = context;
  const chart = createChart('hidden', {
    height: 220, pick: d => Number.isInteger(d.layer) && state.set(d.token === undefined ? {layer: d.layer} : {layer: d.layer, token: d.token}),
    tip: d => d.value !== undefined && (d.text ?? `${b ? `${d.series}, ` : ''}after layer ${d.layer}: ${HIDDEN.find(([name]) => name === d.measure)?.[1]} ${number(d.value)}`),
  });
  const sheet = () => [['result', 'place', ...HIDDEN.map(([name]) => name), 'token of the largest', 'dimension'],
    ...series(context).flatMap(([name, doc]) => [['embedding', doc.embedding], ...doc.layers.map(layer => [`layer ${layer.index}`, layer.hidden]), ['final', doc.final]]
      .filter(([, hidden]) => hidden).map(([place, hidden]) => [name, place, ...HIDDEN.map(([measure]) => hidden[measure]), hidden.max_token, hidden.max_dimension]))];
  const frame = figure({title: 'Size of the hidden states', svg: () => chart.svg(), rows: sheet});
  const runs = massiveRuns(a);
  const list = runs.length > 0 && h('ul', {class: 'plain-list massive'}, runs.slice(0, 5).map(run => h('li', {}, h('span', {class: 'triangle', 'aria-hidden': 'true'}, '▲ '),
    `Token ${run.token} “${visible(tokenText(a, run.token))}”, dimension ${run.dimension}: up to ${number(run.value)}, layers ${run.from === run.to ? run.from : `${run.from} to ${run.to}`} `,
    context.jump({token: run.token, layer: run.from}, 'token', 'Follow this token'))),
    runs.length > 5 && h('li', {}, `and ${runs.length - 5} more (in the CSV and the document)`));
  frame.say('What each layer passes on, on a logarithmic axis: ', HIDDEN.map(([, label, dash], i) => [i ? ', ' : '', h('span', {class: `dash ${dash}`, 'aria-hidden': 'true'}), ` ${label}`]), '. ',
    runs.length ? 'Triangles are massive activations: single values a thousand times the median, often the other side of an attention sink.' : 'No massive activations (values over 100 and a thousand times the median).', ' ', swatches(a, b));
  frame.body.append(chart.node);
  if (list) frame.body.append(list);
  return {
    node: frame.node,
    update(chosen) {
      const rows = series(context).flatMap(([name, doc]) => doc.layers.flatMap(layer => HIDDEN.flatMap(([measure]) =>
        layer.hidden?.[measure] > 0 ? [{series: name, layer: layer.index, measure, value: layer.hidden[measure]}] : [])));
      const massive = series(context).flatMap(([name, doc]) => doc.layers.flatMap(layer => (layer.hidden?.massive ?? []).slice(0, 3).map(({token, dimension, value}) => ({
        series: name, layer: layer.index, token, value: Math.abs(value),
        text: `massive activation after layer ${layer.index}: ${number(value)} in dimension ${dimension} at token ${token} “${visible(tokenText(doc, token))}”`,
      }))));
      const [low, high] = extent(rows.map(row => row.value)).map(Math.log10);
      const decades = Array.from({length: Math.ceil(high) - Math.floor(low) + 1}, (_, step) => 10 ** (Math.floor(low) + step));
      chart.draw({
        data: {rows, massive, marks: [{layer: chosen.layer}]}, signals: {lo: decades[0], hi: decades.at(-1), decades, xlo: 0, xhi: Math.max(1, lastLayer(context))},
        label: `Largest magnitude of the hidden state: ${a.layers.map(layer => `layer ${layer.index} ${number(layer.hidden?.max_abs)}`).join(', ')}`,
      });
    },
  };
}

export const layersSection = {
  id: 'layers', title: 'Layers',
  applies: ({a}) => headMetrics(a).length > 0 || hasHidden(a),
  mount(context) {
    const bands = headMetrics(context.a).length ? bandsFigure(context) : null;
    const hidden = series(context).some(([, doc]) => hasHidden(doc)) ? hiddenFigure(context) : null;
    return {
      node: h('section', {id: 'layers', class: 'columns', 'aria-label': 'Through the layers'}, bands && bands.node, hidden && hidden.node),
      update(chosen, changed) {
        if (['metric', 'stat', 'layer'].some(name => changed.has(name))) bands?.update(chosen);
        if (changed.has('layer')) hidden?.update(chosen);
      },
    };
  },
};
