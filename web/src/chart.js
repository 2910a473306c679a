// A compiled Vega-Lite chart (charts.js) drawn as SVG by Vega's runtime, as wide as its place.
import {transforms} from 'vega-dataflow';
import * as encode from 'vega-encode';
import * as standard from 'vega-transforms';
import {parse} from 'vega-parser';
import {View} from 'vega-view';
import * as viewTransforms from 'vega-view-transforms';
import {expressionInterpreter} from 'vega-interpreter';
import charts from 'made:charts';
import {h, hideTip, showTip} from './dom.js';

Object.assign(transforms, standard, encode, viewTransforms);

// tip(datum) is what the pointer reads, pick(datum) what a click does; both are optional.
export function createChart(name, {height, tip, pick}) {
  const node = h('div', {class: 'chart', role: 'img', style: {'min-height': `${height}px`}});
  const view = new View(parse(charts[name], {}, {ast: true}), {expr: expressionInterpreter, renderer: 'svg', hover: false, logLevel: 1});
  view.tooltip((handler, event, item) => {
    const text = item?.datum && tip?.(item.datum);
    if (text) showTip(text, event.clientX, event.clientY);
    else hideTip();
  });
  if (tip) {
    view.addEventListener('mousemove', (event, item) => {
      const text = item?.datum && tip(item.datum);
      if (text) showTip(text, event.clientX, event.clientY);
      else hideTip();
    });
    view.addEventListener('mouseout', hideTip);
  }
  if (pick) view.addEventListener('click', (event, item) => item?.datum && pick(item.datum));

  let width = 0;
  const draw = () => view.run();
  new ResizeObserver(([entry]) => {
    const now = Math.floor(entry.contentRect.width);
    if (now === width || now === 0) return;
    width = now;
    if (!view.container()) view.initialize(node);
    view.width(width);
    draw();
    node.querySelector('svg')?.setAttribute('aria-hidden', 'true');
  }).observe(node);

  return {
    node,
    view,
    svg: () => node.querySelector('svg'),
    // data: {name: rows}; signals: {name: value}; label: what a listener hears in place of the drawing.
    draw({data, signals = {}, label}) {
      node.setAttribute('aria-label', label);
      for (const [signal, value] of Object.entries(signals)) view.signal(signal, value);
      for (const [set, rows] of Object.entries(data)) view.data(set, rows.map(row => ({...row})));
      if (view.container()) draw();
    },
  };
}
