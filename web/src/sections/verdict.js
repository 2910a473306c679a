// First screen: the verdict in a sentence, the findings in plain words, the key figures, and what theta is.
import {h, replace, s} from '../dom.js';
import {count} from '../format.js';
import {findingGroups, shortName} from '../result.js';
import {KIND, keyFigures, sentence, verdict} from '../words.js';

const SIGNS = {error: '✕', warning: '!', info: 'i', good: '✓'};
const SPOKEN = {error: 'Error', warning: 'Warning', info: 'Note', good: 'Good'};
const SHOWN = 2; // findings of one kind before the rest is folded
const IN_SIGHT = 3; // kinds of findings before notes are folded

const sign = level => h('span', {class: `sign ${level}`, role: 'img', 'aria-label': SPOKEN[level] ?? level}, SIGNS[level] ?? 'i');

function placeOf(finding) {
  const parts = [['layer', finding.layer], ['head', finding.head], ['token', finding.token]].filter(([, value]) => Number.isInteger(value));
  return parts.map(([name, value]) => `${name} ${value}`).join(', ');
}

// Where a finding shows: what to choose, and which section to open.
function target(finding, metrics) {
  const go = {};
  for (const name of ['layer', 'head', 'token']) if (Number.isInteger(finding[name])) go[name] = finding[name];
  if (metrics.has(finding.metric)) go.metric = finding.metric;
  const anchor = Number.isInteger(finding.head) ? 'head' : Number.isInteger(finding.token) && !Number.isInteger(finding.layer) ? 'token' : Number.isInteger(finding.layer) ? 'layers' : 'heads';
  return {go, anchor};
}

function findingLine(context, finding) {
  const {go, anchor} = target(finding, context.metricNames);
  const place = placeOf(finding);
  const shows = context.doc.layers?.length > 0 && (place || go.metric);
  return h('li', {}, finding.text, ' ', shows && context.jump({...go, doc: context.index}, anchor, 'Show', `Show ${place || KIND[finding.id]?.title || 'it'}`));
}

function group(context, {severity, id, list}) {
  const {title, text} = KIND[id] ?? {title: sentence(id ?? 'finding')};
  const rest = list.slice(SHOWN);
  return h('li', {class: `finding ${severity}`, 'data-finding': id}, sign(severity),
    h('div', {}, h('h3', {}, title, list.length > 1 && h('span', {class: 'soft'}, ` × ${list.length}`)), text && h('p', {class: 'meaning'}, text),
      h('ul', {class: 'plain-list'}, list.slice(0, SHOWN).map(finding => findingLine(context, finding))),
      rest.length > 0 && h('details', {}, h('summary', {}, `${rest.length} more like this`),
        h('ul', {class: 'plain-list'}, rest.map(finding => findingLine(context, finding))))));
}

// Findings that ask for something come first and all of them; notes fill what room is left.
function findings(context, doc) {
  const groups = findingGroups(doc);
  const rank = ({id}) => (Object.keys(KIND).indexOf(id) + 1 || Infinity);
  const serious = groups.filter(({severity}) => severity !== 'info');
  const notes = groups.filter(({severity}) => severity === 'info').sort((one, two) => rank(one) - rank(two));
  const room = Math.max(0, IN_SIGHT - serious.length), more = notes.slice(room);
  return [
    h('ul', {class: 'findings'}, [...serious, ...notes.slice(0, room)].map(each => group(context, each))),
    more.length > 0 && h('details', {class: 'notes'}, h('summary', {}, count(more.length, room ? 'more note' : 'note')),
      h('ul', {class: 'findings'}, more.map(each => group(context, each)))),
  ];
}

function oneVerdict(context, doc, index, other) {
  const {level, headline, detail} = verdict(doc);
  return h('div', {class: `verdict ${level}`},
    other && h('p', {class: 'series-name'}, h('span', {class: `swatch ${index === context.state.get().doc ? 'a' : 'b'}`}), shortName(doc, other)),
    h('div', {class: 'verdict-head'}, sign(level), h('h2', {}, headline)),
    h('p', {class: 'verdict-detail'}, detail),
    doc.findings?.length > 0 && findings({...context, doc, index}, doc));
}

function figures(context) {
  return h('ul', {class: 'figures', 'aria-label': 'Key figures'}, keyFigures(context.a).map(({label, value, text, go, anchor}) =>
    h('li', {}, h('span', {class: 'figure-label'}, label), h('span', {class: 'figure-value'}, value), h('span', {class: 'figure-text'}, text),
      context.jump(go, anchor ?? 'heads', 'Show', `Show: ${label}`))));
}

// Three rows over four keys and their theta, to see what the number means.
const EXAMPLES = [['spread out', [0.25, 0.25, 0.25, 0.25], '1'], ['a favourite', [0.9, 0.05, 0.03, 0.02], '0.36'], ['frozen', [1, 0, 0, 0], '0']];

const example = ([name, weights, theta]) => h('div', {class: 'example'},
  s('svg', {viewBox: '0 0 64 40', 'aria-hidden': 'true'}, weights.map((weight, at) => s('rect', {x: at * 16 + 2, width: 12, y: 38 - 36 * weight, height: 36 * weight + 1, rx: 1.5, fill: 'var(--series-a)'}))),
  h('span', {}, name), h('b', {}, `θ = ${theta}`));

export const explainer = () => h('aside', {class: 'explainer', 'aria-labelledby': 'explainer-title'},
  h('h3', {id: 'explainer-title'}, 'θ in half a minute'),
  h('p', {}, 'Every token spreads 100 % of its attention over the tokens it may see; each head of each layer does this in its own way. The scores behind that spread move as the model learns, and with every change of the text.'),
  h('p', {}, h('b', {}, 'θ (theta)'), ' says how far the spread can still follow. ', h('b', {}, '1'), ' is a row that can move half of its weight, ', h('b', {}, '0'), ' a row frozen on one key: it ignores everything else, and no gradient gets through to change that.'),
  h('div', {class: 'examples'}, EXAMPLES.map(example)),
  h('p', {class: 'promise'}, 'The promise behind it: if no score moves by more than ε, the row moves by at most ε/2 × θ in total variation, and some change of that size attains it.'));

export const verdictSection = {
  id: 'verdict', title: 'Verdict',
  mount(context) {
    const {a, b} = context;
    const node = h('section', {id: 'verdict', 'aria-label': 'Verdict'});
    const index = context.state.get();
    replace(node,
      h('div', {class: b ? 'pair' : 'lead'},
        oneVerdict(context, a, index.doc, b), b ? oneVerdict(context, b, index.with, a) : explainer()),
      !b && keyFigures(a).length > 0 && figures(context));
    return {node};
  },
};
