// The few ways this page touches the document tree. Text always enters as text nodes or attribute values, never as
// markup: whatever a model, a file or a token is called, it stays data.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'style') for (const [property, to] of Object.entries(value)) node.style.setProperty(property, to);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false));
  return node;
}

// h('p', {class: 'note'}, 'text', h('b', {}, name)): an element; children may be nested lists.
export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

// The same for SVG elements.
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

export function replace(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter(Boolean));
}

// A labelled <select>: options are [value, text], or [group, [[value, text], ...]].
export function choice({label, options, value, onchange, hideLabel}) {
  const option = ([key, text]) => h('option', {value: key, selected: key === value}, text);
  const select = h('select', {onchange: event => onchange(event.target.value)},
    options.map(([key, content]) => Array.isArray(content)
      ? h('optgroup', {label: key}, content.map(option))
      : option([key, content])));
  return {node: h('label', {class: 'choice'}, h('span', {class: hideLabel ? 'unseen' : 'choice-label'}, label), select), select};
}

// Buttons of which one is on: [[value, text], ...].
export function switcher({label, options, value, onchange}) {
  const buttons = options.map(([key, text]) => h('button', {
    type: 'button', 'aria-pressed': String(key === value), 'data-value': key, onclick: () => onchange(key),
  }, text));
  return {
    node: h('div', {class: 'switcher', role: 'group', 'aria-label': label}, buttons),
    set: to => buttons.forEach(button => button.setAttribute('aria-pressed', String(button.dataset.value === to))),
  };
}

// Give the reader a file made here.
export function save(name, type, content) {
  const address = URL.createObjectURL(new Blob([content], {type}));
  const link = h('a', {href: address, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// Rows of cells as CSV (RFC 4180). A cell that a spreadsheet would run as a formula gets a quote before it.
export function csv(rows) {
  const cell = value => {
    if (value === null || value === undefined) return '';
    if (typeof value === 'number') return String(value);
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map(row => row.map(cell).join(',')).join('\r\n') + '\r\n';
}

// An SVG element as a file of its own: CSS variables become the colours they stand for now.
export function svgFile(element) {
  const copy = element.cloneNode(true);
  copy.setAttribute('xmlns', SVG);
  const style = getComputedStyle(document.documentElement);
  return new XMLSerializer().serializeToString(copy)
    .replace(/var\((--[a-z-]+)\)/g, (whole, name) => style.getPropertyValue(name).trim() || 'currentColor');
}

// One tooltip for the whole page; the text it shows is also the label of what it describes.
let tip;
export function showTip(text, x, y) {
  if (!tip) document.body.append(tip = h('div', {class: 'tip', 'aria-hidden': 'true'}));
  tip.textContent = text;
  tip.classList.add('on');
  const {width, height} = tip.getBoundingClientRect();
  const left = Math.max(8, Math.min(x + 14, innerWidth - width - 8));
  const top = y + 18 + height > innerHeight ? y - height - 12 : y + 18;
  tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(Math.max(8, top))}px)`;
}
export const hideTip = () => tip?.classList.remove('on');
