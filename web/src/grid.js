// Layers x heads as a grid of coloured cells: layers run to the right as text runs through the model, and downwards
// where the screen is narrow. One cell takes the keyboard focus; arrow keys move it, Enter chooses.
import {css, hex, inkOn} from './colour.js';
import {h, hideTip, replace, s, showTip} from './dom.js';
import {short} from './format.js';

const narrow = matchMedia('(max-width: 640px)');
const NUMBERS_FROM = 26; // pixels a cell needs before its number is written into it
const STEPS = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};

// heads: heads of each layer; axes: what a column and a row are called. onpick(layer, head).
export function createGrid({label, heads, axes = ['layer', 'head'], onpick}) {
  const node = h('div', {class: 'grid', role: 'grid', 'aria-label': label});
  const layers = heads.length, most = Math.max(...heads);
  let cells = new Map(), painted = null, chosen = null, focus = [0, 0], marks = new Set();
  const key = (layer, head) => layer * most + head;
  const at = (row, column) => (narrow.matches ? [row, column] : [column, row]);
  const place = (layer, head) => (narrow.matches ? [layer, head] : [head, layer]);

  function cell(layer, head) {
    const element = h('div', {class: 'cell', role: 'gridcell', tabindex: '-1', 'data-layer': layer, 'data-head': head});
    cells.set(key(layer, head), element);
    return element;
  }

  function build() {
    cells = new Map();
    const rows = narrow.matches ? layers : most, columns = narrow.matches ? most : layers;
    const [down, right] = narrow.matches ? axes : [axes[1], axes[0]];
    node.style.setProperty('--columns', columns);
    node.classList.toggle('dense', columns > 40);
    measure();
    const every = Math.max(1, Math.ceil(columns / (narrow.matches ? 16 : 40)));
    const header = h('div', {role: 'row', class: 'grid-row'},
      h('div', {role: 'columnheader', class: 'corner'}, `${down} ↓ ${right} →`),
      Array.from({length: columns}, (_, column) => h('div', {role: 'columnheader', class: 'column-name', 'aria-label': `${right} ${column}`},
        column % every === 0 ? String(column) : '')));
    const body = Array.from({length: rows}, (_, row) => h('div', {role: 'row', class: 'grid-row'},
      h('div', {role: 'rowheader', class: 'row-name', 'aria-label': `${down} ${row}`}, String(row)),
      Array.from({length: columns}, (_, column) => {
        const [layer, head] = at(row, column);
        return head < heads[layer] ? cell(layer, head) : h('div', {role: 'gridcell', class: 'nothing'});
      })));
    replace(node, header, body);
    if (painted) paint();
    mark();
  }

  const measure = () => node.classList.toggle('bare', node.clientWidth / (narrow.matches ? most : layers) < NUMBERS_FROM);
  new ResizeObserver(measure).observe(node);

  function paint() {
    const {value, colour, tell, text = short} = painted;
    for (const [index, element] of cells) {
      const layer = Math.floor(index / most), head = index % most;
      const amount = value(layer, head);
      element.classList.toggle('missing', amount === null);
      const shade = amount === null ? null : colour(amount);
      element.style.background = shade ? css(shade) : '';
      element.style.color = shade ? inkOn(shade) : '';
      element.dataset.text = text(amount); // drawn by the style: the label says it in full
      element.setAttribute('aria-label', tell(layer, head));
      element.classList.toggle('warned', marks.has(index));
    }
  }

  function mark() {
    for (const [index, element] of cells) {
      const on = chosen !== null && index === key(...chosen);
      element.setAttribute('aria-selected', String(on));
    }
    cells.get(key(...focus))?.setAttribute('tabindex', '0');
  }

  function move(to, take) {
    const next = cells.get(key(...to));
    if (!next) return;
    cells.get(key(...focus))?.setAttribute('tabindex', '-1');
    focus = to;
    next.setAttribute('tabindex', '0');
    if (take) next.focus();
  }

  const of = event => event.target.closest?.('.cell');
  const coordinates = element => [Number(element.dataset.layer), Number(element.dataset.head)];
  node.addEventListener('click', event => {
    const element = of(event);
    if (element) { move(coordinates(element)); onpick(...coordinates(element)); }
  });
  node.addEventListener('keydown', event => {
    const element = of(event);
    if (!element) return;
    if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); onpick(...coordinates(element)); return; }
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    const [row, column] = place(...coordinates(element));
    const to = [row + step[0], column + step[1]];
    if (to[0] >= 0 && to[1] >= 0) { const [layer, head] = at(...to); if (layer < layers && head < most) move([layer, head], true); }
  });
  const describe = event => {
    const element = of(event);
    if (!element) return hideTip();
    const box = element.getBoundingClientRect();
    showTip(element.getAttribute('aria-label'), event.clientX ?? box.left, event.clientY ?? box.bottom - 12);
  };
  node.addEventListener('pointermove', describe);
  node.addEventListener('focusin', describe);
  node.addEventListener('pointerleave', hideTip);
  node.addEventListener('focusout', hideTip);
  narrow.addEventListener('change', build);
  build();

  return {
    node,
    // value(l, h) -> number or null, colour(number) -> [r, g, b], tell(l, h) -> sentence, text(number) -> what stands in
    // the cell, warned: [[l, h], ...]
    draw(how) {
      painted = how;
      marks = new Set((how.warned ?? []).map(([layer, head]) => key(layer, head)));
      paint();
    },
    choose(layer, head) {
      chosen = layer === null || layer === undefined || head === null || head === undefined ? null : [layer, head];
      if (chosen && cells.has(key(...chosen))) move(chosen);
      mark();
    },
    svg() {
      const size = [28, 16], left = 34, top = 20;
      const columns = layers, rows = most;
      const text = (x, y, content, anchor) => s('text', {x, y, 'font-size': 9, 'text-anchor': anchor, fill: 'var(--soft)', 'font-family': 'sans-serif'}, content);
      const squares = [];
      for (let layer = 0; layer < layers; layer++)
        for (let head = 0; head < heads[layer]; head++) {
          const amount = painted?.value(layer, head) ?? null;
          if (amount === null) continue;
          squares.push(s('rect', {x: left + layer * size[0], y: top + head * size[1], width: size[0] - 1, height: size[1] - 1, fill: hex(painted.colour(amount))},
            s('title', {}, painted.tell(layer, head))));
        }
      return s('svg', {viewBox: `0 0 ${left + columns * size[0] + 4} ${top + rows * size[1] + 4}`, width: left + columns * size[0] + 4, height: top + rows * size[1] + 4},
        Array.from({length: columns}, (_, column) => text(left + (column + 0.5) * size[0], 12, String(column), 'middle')),
        Array.from({length: rows}, (_, row) => text(left - 6, top + (row + 0.7) * size[1], String(row), 'end')),
        squares);
    },
  };
}

// The colour scale beside a grid: a bar with its two ends and what they mean.
export function legend(scale, low, high) {
  return h('div', {class: 'legend', 'aria-hidden': 'true'}, h('span', {}, low), h('span', {class: 'legend-bar', style: {background: scale}}), h('span', {}, high));
}
