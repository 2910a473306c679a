// The frame round every chart: a title, a sentence that says how to read it, and the chart as SVG, its numbers as CSV.
import {csv, h, replace, save, svgFile} from './dom.js';

const fileName = (name, suffix) => `${name.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')}.${suffix}`;

// svg() gives an SVG element or null, rows() a list of lists with a heading row. Either may be left out.
export function figure({title, level = 3, svg, rows, wide}) {
  const heading = h(`h${level}`, {}, title);
  const note = h('p', {class: 'figure-note'});
  const body = h('div', {class: 'figure-body'});
  const button = (label, what, act) => h('button', {type: 'button', class: 'quiet', 'aria-label': what, title: what, onclick: act}, label);
  const tools = h('div', {class: 'figure-tools'},
    svg && button('SVG', 'Save this chart as SVG', () => {
      const element = svg();
      if (element) save(fileName(heading.textContent, 'svg'), 'image/svg+xml', svgFile(element));
    }),
    rows && button('CSV', 'Save these numbers as CSV', () => save(fileName(heading.textContent, 'csv'), 'text/csv', csv(rows()))));
  return {
    node: h('figure', {class: wide ? 'figure wide' : 'figure'}, h('div', {class: 'figure-head'}, heading, tools), note, body),
    body,
    say: (...content) => replace(note, content),
    title: text => { heading.textContent = text; },
  };
}
