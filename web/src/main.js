// The page: unpacks the result documents, keeps what the reader chose, and shows the sections that a kind of result has.
import {choice, h, replace, switcher} from './dom.js';
import {big, count} from './format.js';
import {commonName, complete, headMetrics, shortName, tokenCount} from './result.js';
import {createState} from './state.js';
import {theme} from './theme.js';
import {unpack} from './unpack.js';
import {aboutSection} from './sections/about.js';
import {compareSection} from './sections/compare.js';
import {headSection} from './sections/head.js';
import {headsSection, STATISTICS} from './sections/heads.js';
import {layersSection} from './sections/layers.js';
import {shadesOf, textSection} from './sections/text.js';
import {thetaGroupsSection, thetaProfileSection, thetaRowsSection} from './sections/theta.js';
import {tokenSection} from './sections/token.js';
import {verdictSection} from './sections/verdict.js';

// The sections of each kind of result, in order. A new command gets its page by a line here. A section is {id, title,
// applies?(context), mount(context) -> {node, update?(chosen, changed)}}; it is updated when a choice it shows changes.
const PAGES = {
  inspect: [verdictSection, compareSection, headsSection, layersSection, headSection, textSection, tokenSection, aboutSection],
  theta: [verdictSection, thetaRowsSection, thetaGroupsSection, thetaProfileSection, aboutSection],
};

// What stands for a result that this version cannot draw.
const unknownSection = {
  id: 'unknown', title: 'Result',
  mount: ({a}) => ({node: h('section', {id: 'unknown', class: 'panel'}, h('h2', {}, 'A result that this page cannot draw'),
    h('p', {}, `It comes from “${a.command ?? 'an unknown command'}”. A newer softscope may know it: make the page again with that one.`))}),
};

const THEMES = [['auto', 'Auto'], ['light', 'Light'], ['dark', 'Dark']];

// The head to open first: the one that the first finding with a head names, else the first.
const firstPlace = doc => {
  const finding = doc.findings?.find(({layer, head}) => Number.isInteger(layer) && Number.isInteger(head) && doc.layers?.[layer]?.heads?.[head]);
  return finding ? {layer: finding.layer, head: finding.head} : {layer: 0, head: 0};
};

function defaults(doc) {
  return {doc: 0, with: null, ...firstPlace(doc), token: null, metric: 'theta', stat: 'mean', view: 'a', colours: 'full', text: 'nll', profile: 'theta'};
}

// Replaces choices that these documents cannot show.
const checker = documents => chosen => {
  const within = (value, many) => (Number.isInteger(value) && value < many ? value : null);
  const doc = within(chosen.doc, documents.length) ?? 0, a = documents[doc];
  const other = within(chosen.with, documents.length);
  const layer = within(chosen.layer, a.layers?.length ?? Infinity) ?? 0;
  const metrics = a.layers ? headMetrics(a).map(({name}) => name) : [];
  const one = (value, allowed) => (allowed.includes(value) ? value : allowed[0]);
  return {
    ...chosen, doc, layer, with: other === doc || documents[other]?.command !== a.command ? null : other,
    head: within(chosen.head, a.layers?.[layer]?.heads.length ?? Infinity) ?? 0,
    token: within(chosen.token, tokenCount(a)),
    metric: metrics.length ? one(chosen.metric, metrics) : chosen.metric,
    stat: one(chosen.stat, STATISTICS.map(([name]) => name)),
    view: one(chosen.view, ['a', 'b', 'difference']),
    colours: one(chosen.colours, ['full', 'data']),
    text: shadesOf(a).length ? one(chosen.text, shadesOf(a).map(({name}) => name)) : chosen.text,
  };
};

function facts(doc) {
  const {model = {}, input} = doc;
  if (doc.command === 'theta') return [`${input?.kind ?? 'rows'} of shape ${(input?.shape ?? []).join(' × ')}`, input?.support && `support: ${input.support}`, typeof input?.tau === 'number' && `temperature ${input.tau}`].filter(Boolean);
  return [model.file !== model.name && model.file, model.architecture, model.layers && `${count(model.layers, 'layer')} × ${count(model.heads, 'head')}`, model.parameters && `${big(model.parameters)} parameters`, model.weights, input?.tokens && `${count(input.tokens, 'token')} of ${input.name}`].filter(Boolean);
}

function themeSwitch() {
  const control = switcher({label: 'Colours of the page', options: THEMES, value: theme.get(), onchange: to => { theme.set(to); control.set(to); }});
  return control.node;
}

function header(context, documents) {
  const {a, b, state} = context;
  const names = documents.map((doc, index) => [String(index), documents.length > 1 ? `${index + 1}. ${[doc.model?.name ?? doc.command, doc.input?.name, doc.settings?.dtype].filter(Boolean).join(' · ')}` : '']);
  const chooser = documents.length > 1 && [
    choice({label: 'Result', value: String(state.get().doc), options: names, onchange: value => state.set({doc: Number(value), with: null})}).node,
    choice({label: 'Compare with', value: String(state.get().with ?? ''), options: [['', 'nothing'], ...names.filter(([index]) => documents[index].command === a.command && Number(index) !== state.get().doc)],
      onchange: value => state.set({with: value === '' ? null : Number(value)})}).node];
  return h('header', {class: 'top'},
    h('div', {class: 'top-line'}, h('span', {class: 'brand'}, 'softscope'), h('div', {class: 'top-tools'}, themeSwitch())),
    h('h1', {}, b && commonName(a, b) && h('span', {class: 'against'}, commonName(a, b), ': '), shortName(a, b), b && [h('span', {class: 'against'}, ' and '), shortName(b, a)]),
    h('p', {class: 'facts'}, facts(a).join(' · ')), chooser && h('div', {class: 'chooser'}, chooser));
}

const navigation = sections => h('nav', {'aria-label': 'Sections'}, sections.map(({id, title}) =>
  h('a', {href: `#${id}`, onclick: event => { event.preventDefault(); show(id); }}, title)));

function show(id) {
  const section = document.getElementById(id);
  if (!section) return;
  const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  section.scrollIntoView({behavior: calm ? 'auto' : 'smooth', block: 'start'});
  section.setAttribute('tabindex', '-1');
  section.focus({preventScroll: true});
}

function page(documents) {
  const root = document.getElementById('page');
  const check = checker(documents);
  const first = {...defaults(documents[0]), with: documents.length === 2 && documents[0].command === documents[1].command ? 1 : null};
  const state = createState(first, check);
  let parts = [];

  function build() {
    const chosen = state.get();
    const context = {
      documents, a: documents[chosen.doc], b: chosen.with === null ? null : documents[chosen.with], state,
      metricNames: new Set(headMetrics(documents[chosen.doc]).map(({name}) => name)),
      // A link to another choice: an address to share, and a jump to the section that shows it.
      jump: (go, anchor, text, label) => h('a', {class: 'jump', href: state.link(go), 'aria-label': label, onclick: event => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        state.set(go);
        show(anchor);
      }}, text),
    };
    const sections = (PAGES[context.a.command] ?? [unknownSection, aboutSection]).filter(section => section.applies?.(context) ?? true);
    parts = sections.map(section => section.mount(context));
    replace(root, header(context, documents), navigation(sections), h('main', {}, parts.map(part => part.node)));
    update(chosen, new Set([...Object.keys(chosen), 'theme']));
  }
  function update(chosen, changed) {
    for (const part of parts) part.update?.(chosen, changed);
  }
  state.listen((chosen, changed) => (changed.has('doc') || changed.has('with') ? build() : update(chosen, changed)));
  theme.listen(() => update(state.get(), new Set(['theme'])));
  build();
  document.documentElement.dataset.ready = 'true';
}

async function open() {
  const root = document.getElementById('page');
  try {
    page((await unpack(document.getElementById('documents').textContent)).map(complete));
  } catch (problem) {
    replace(root, h('p', {class: 'notice', role: 'alert'}, `This report cannot be shown. ${problem.message}`));
    throw problem;
  }
}
open();
