// A head's attention map on a canvas: one row a query bin, one column a key bin, with the text along both sides. The
// byte of a cell is the root of its weight, so weak links stay visible. Arrow keys move a cursor, Enter chooses a token.
import {amount, hex} from './colour.js';
import {h, s} from './dom.js';
import {number, visible} from './format.js';
import {binRange, hasRows, mapBytes, mapWeight, phrase, tokenCount} from './result.js';

const STEPS = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
const NAMES_FROM = 8; // pixels a cell needs before tokens are named along the sides
const NAMES_WIDTH = 78; // pixels the names on the left take (style.css)

export const binText = (doc, bin, bins) => {
  const [from, to] = binRange(bin, bins, tokenCount(doc));
  const words = phrase(doc, from, Math.min(to, from + 3));
  const text = visible(words.trim() || words);
  return text.length > 24 || to - from > 3 ? `${text.slice(0, 23)}…` : text;
};
export const binPlace = (bin, bins, total) => {
  const [from, to] = binRange(bin, bins, total);
  return from === to ? `token ${from}` : `tokens ${from}–${to}`;
};

// Is the key bin hidden from the whole query bin (causal models), or has the bin no row that counts?
const hidden = (doc, map, query, key) => !hasRows(map, query) || (doc.model?.causal &&
  binRange(key, map.keys, tokenCount(doc))[0] > binRange(query, map.queries, tokenCount(doc))[1]);

// onpick(token) is called with the first token of the chosen key.
export function createMap({onpick}) {
  const canvas = h('canvas', {class: 'map-canvas'});
  const names = {query: h('div', {class: 'map-names map-queries', 'aria-hidden': 'true'}), key: h('div', {class: 'map-names map-keys', 'aria-hidden': 'true'})};
  const cursor = h('div', {class: 'map-cursor', hidden: true});
  const stripes = h('div', {class: 'map-chosen', hidden: true});
  const plane = h('div', {class: 'map-plane', tabindex: '0', role: 'application', 'aria-roledescription': 'attention map'}, canvas, stripes, cursor);
  const reading = h('output', {class: 'map-reading', 'aria-live': 'polite'});
  const node = h('div', {class: 'map'}, names.key, names.query, plane, reading);
  let doc, map, at = [0, 0];

  const HINT = 'Point at a cell, or use the arrow keys, to read a weight. Click a column to follow that token.';
  function read(query, key) {
    at = [query, key];
    cursor.hidden = false;
    Object.assign(cursor.style, {
      left: `${(100 * key) / map.keys}%`, top: `${(100 * query) / map.queries}%`,
      width: `${100 / map.keys}%`, height: `${100 / map.queries}%`,
    });
    const total = tokenCount(doc);
    reading.textContent = !hasRows(map, query) ? `“${binText(doc, query, map.queries)}” sees itself alone, so its row says nothing.`
      : hidden(doc, map, query, key) ? `“${binText(doc, query, map.queries)}” comes before “${binText(doc, key, map.keys)}” and cannot see it.`
      : `“${binText(doc, query, map.queries)}” (${binPlace(query, map.queries, total)}) puts ${number(mapWeight(map, query, key), 2)} of its weight on ` +
        `“${binText(doc, key, map.keys)}” (${binPlace(key, map.keys, total)}).`;
  }
  function under(event) {
    const box = plane.getBoundingClientRect();
    const clamp = (value, many) => Math.max(0, Math.min(many - 1, Math.floor(value * many)));
    return [clamp((event.clientY - box.top) / box.height, map.queries), clamp((event.clientX - box.left) / box.width, map.keys)];
  }
  plane.addEventListener('pointermove', event => map && read(...under(event)));
  plane.addEventListener('click', event => { if (map) { read(...under(event)); onpick(binRange(at[1], map.keys, tokenCount(doc))[0]); } });
  plane.addEventListener('keydown', event => {
    if (!map) return;
    if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); onpick(binRange(at[1], map.keys, tokenCount(doc))[0]); return; }
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    read(Math.max(0, Math.min(map.queries - 1, at[0] + step[0])), Math.max(0, Math.min(map.keys - 1, at[1] + step[1])));
  });

  function label() {
    const room = (node.clientWidth - NAMES_WIDTH) / map.keys;
    node.classList.toggle('named', room >= NAMES_FROM);
    for (const [side, bins] of [['query', map.queries], ['key', map.keys]])
      names[side].replaceChildren(...(room >= NAMES_FROM
        ? Array.from({length: bins}, (_, bin) => h('span', {}, binText(doc, bin, bins)))
        : []));
  }
  new ResizeObserver(() => map && label()).observe(node);

  function paint() {
    canvas.width = map.keys;
    canvas.height = map.queries;
    const bytes = mapBytes(map), context = canvas.getContext('2d'), image = context.createImageData(map.keys, map.queries);
    for (let query = 0; query < map.queries; query++)
      for (let key = 0; key < map.keys; key++) {
        const cell = query * map.keys + key;
        if (hidden(doc, map, query, key)) continue; // stays transparent
        const [red, green, blue] = amount(bytes[cell] / 255);
        image.data.set([red, green, blue, 255], 4 * cell);
      }
    context.putImageData(image, 0, 0);
  }

  return {
    node,
    draw(document, head, title) {
      doc = document;
      map = head?.map && mapBytes(head.map) ? head.map : null;
      node.hidden = !map;
      if (!map) return;
      paint();
      label();
      cursor.hidden = true;
      reading.textContent = HINT;
      plane.setAttribute('aria-label', `${title}: ${map.queries} by ${map.keys} cells, rows are the tokens that look, columns the tokens looked at. Arrow keys read the cells.`);
    },
    choose(token) {
      stripes.hidden = !map || token === null || token === undefined;
      if (stripes.hidden) return;
      const bin = Math.ceil(((token + 1) * map.keys) / tokenCount(doc)) - 1;
      Object.assign(stripes.style, {left: `${(100 * bin) / map.keys}%`, width: `${100 / map.keys}%`});
    },
    svg() {
      if (!map) return null;
      const size = 8, cells = [];
      for (let query = 0; query < map.queries; query++)
        for (let key = 0; key < map.keys; key++)
          if (!hidden(doc, map, query, key))
            cells.push(s('rect', {x: key * size, y: query * size, width: size, height: size, fill: hex(amount(mapBytes(map)[query * map.keys + key] / 255))}));
      return s('svg', {viewBox: `0 0 ${map.keys * size} ${map.queries * size}`, width: map.keys * size, height: map.queries * size}, cells);
    },
    rows() {
      if (!map) return [];
      const total = tokenCount(doc), out = [['query tokens', 'key tokens', 'weight']];
      for (let query = 0; query < map.queries; query++)
        for (let key = 0; key < map.keys; key++)
          if (!hidden(doc, map, query, key))
            out.push([binPlace(query, map.queries, total), binPlace(key, map.keys, total), mapWeight(map, query, key)]);
      return out;
    },
  };
}
