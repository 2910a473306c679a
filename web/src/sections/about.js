// The end of the page: how the numbers were made, what every metric means, and whose software draws the page.
import licences from 'made:licences';
import {h} from '../dom.js';
import {PLAIN} from '../words.js';
import {fixedRange} from '../result.js';

const facts = object => h('dl', {class: 'scalars'}, Object.entries(object ?? {}).filter(([, value]) => value !== null && typeof value !== 'object')
  .map(([name, value]) => h('div', {}, h('dt', {}, name.replaceAll('_', ' ')), h('dd', {}, String(value)))));

export const aboutSection = {
  id: 'about', title: 'About',
  mount({a}) {
    const metrics = (a.metrics ?? []).map(metric => {
      const range = fixedRange(metric);
      return h('tr', {}, h('th', {scope: 'row'}, metric.label ?? metric.name, h('code', {}, metric.name)), h('td', {}, PLAIN[metric.name], ' ', h('span', {class: 'soft'}, metric.definition)),
        h('td', {}, [metric.unit, range && `${range[0]} to ${range[1]}`].filter(Boolean).join(', ')), h('td', {}, metric.source));
    });
    return {
      node: h('section', {id: 'about', class: 'panel', 'aria-label': 'About this report'}, h('h2', {}, 'About these numbers'),
        h('p', {class: 'figure-note'}, `Made by softscope ${a.softscope ?? '(version unknown)'}, result schema ${a.schema ?? '–'}. Everything drawn here stands in the result document; nothing was sent anywhere: the page works without a network.`),
        h('details', {}, h('summary', {}, 'Model and settings'), h('h3', {}, 'Model'), facts(a.model), h('h3', {}, 'Settings'), facts({...a.settings, text: a.input?.name, tokens: a.input?.tokens})),
        h('details', {}, h('summary', {}, 'What every metric means'), h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Metrics'}, h('table', {class: 'numbers words'},
          h('thead', {}, h('tr', {}, ['Metric', 'Meaning', 'Unit and range', 'Source'].map(name => h('th', {scope: 'col'}, name)))), h('tbody', {}, metrics)))),
        h('details', {}, h('summary', {}, 'Licences of the software inside this page'),
          licences.map(({names, text}) => h('details', {class: 'licence'}, h('summary', {}, names.join(', ')), h('pre', {tabindex: '0'}, text))))),
    };
  },
};
