// The text itself: tokens coloured by what the model's output said about them, and the same value as a line.
import {createChart} from '../chart.js';
import {choice, h, hideTip, replace, showTip} from '../dom.js';
import {figure} from '../figure.js';
import {number, percent, visible} from '../format.js';
import {extent, inPieces, tokenCount, tokenText} from '../result.js';

// What a token can be coloured by. `about`: the distribution read at position t speaks of the token after it, so a
// measure of the target belongs to token t + 1 and a measure of the distribution to token t.
export const SHADES = [
  {name: 'nll', label: 'Surprise', shift: 1, text: 'Dark: the model was surprised by this token (−log probability, in nats).'},
  {name: 'target_p', label: 'Probability it was given', shift: 1, range: [0, 1], high: false, text: 'Dark: the model did not expect this token.'},
  {name: 'p_max', label: 'Confidence', shift: 0, range: [0, 1], text: 'Dark: after this token, one continuation holds most of the probability.'},
  {name: 'theta', label: 'θ of the output', shift: 0, range: [0, 1], high: false, text: 'Dark: after this token the output distribution is saturated (θ near 0), so little gradient passes.'},
  {name: 'entropy', label: 'Entropy of the output', shift: 0, text: 'Dark: after this token many continuations are open (nats).'},
];

export const shadesOf = doc => SHADES.filter(({name}) => doc.output?.tokens?.[name]?.some(value => value !== null));

// Value of a shade at a token, null where there is none.
export const shadeAt = (doc, shade, token) => doc.output.tokens[shade.name][token - shade.shift] ?? null;

const CONFIDENT = 0.9;
// Tokens that came although the model was confident of another one: the target is not the favourite.
const missed = (doc, token) => {
  const {p_max: best, target_p: given} = doc.output?.tokens ?? {};
  return best && given && token > 0 && best[token - 1] > CONFIDENT && given[token - 1] !== null && given[token - 1] < 1 - CONFIDENT;
};

// A token without the blank before it, which stands between the coloured words; blanks alone are made visible.
const shown = text => (text.trim() === '' || text.includes('\n') ? visible(text) : text.replace(/^( |##)(?=.)/, ''));

export const textSection = {
  id: 'text', title: 'Text',
  applies: ({a}) => tokenCount(a) > 0,
  mount(context) {
    const {a, state} = context;
    const total = tokenCount(a), shades = shadesOf(a);
    const pieces = inPieces(a);
    const tokens = Array.from({length: total}, (_, index) => h('span', {class: 'token', role: 'option', tabindex: '-1', 'data-token': index, 'aria-selected': 'false'},
      shown(tokenText(a, index))));
    const list = h('div', {class: pieces ? 'tokens pieces' : 'tokens', role: 'listbox', 'aria-label': 'Tokens of the text', 'aria-orientation': 'horizontal'},
      tokens.map((token, index) => [index > 0 && (pieces ? !/^##./.test(tokenText(a, index)) : /^ \S/.test(tokenText(a, index))) && ' ', token, tokenText(a, index).includes('\n') && '\n']));
    const frame = figure({
      title: shades.length ? 'Along the text' : 'The text', level: 2, wide: true, svg: shades.length ? () => chart.svg() : null,
      rows: () => [['position', 'id', 'token', ...shades.map(({name}) => name)],
        ...tokens.map((_, index) => [index, a.input.ids?.[index], tokenText(a, index), ...shades.map(({name}) => a.output.tokens[name][index])])],
    });
    const chart = createChart('line', {height: 160, pick: d => Number.isInteger(d.position) && state.set({token: d.position}), tip: d => d.value !== undefined && `token ${d.position} “${visible(tokenText(a, d.position))}”: ${number(d.value)}`});
    const shadeChoice = shades.length > 1 && choice({label: 'Colour by', value: state.get().text, options: shades.map(({name, label}) => [name, label]), onchange: text => state.set({text})});

    let focus = 0;
    const move = (to, take) => {
      if (to < 0 || to >= total) return;
      tokens[focus]?.setAttribute('tabindex', '-1');
      focus = to;
      tokens[to].setAttribute('tabindex', '0');
      if (take) tokens[to].focus();
    };
    const of = event => event.target.closest?.('.token');
    list.addEventListener('click', event => { const token = of(event); if (token) { move(Number(token.dataset.token)); state.set({token: focus}); } });
    list.addEventListener('keydown', event => {
      const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
      if (step) { event.preventDefault(); move(focus + step, true); }
      if (event.key === 'Home' || event.key === 'End') { event.preventDefault(); move(event.key === 'Home' ? 0 : total - 1, true); }
      if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); state.set({token: focus}); }
    });
    const tell = index => {
      const shade = shades.find(({name}) => name === state.get().text);
      const value = shade ? shadeAt(a, shade, index) : null;
      return `token ${index} “${visible(tokenText(a, index))}”${shade ? `: ${shade.label.toLowerCase()} ${number(value)}` : ''}${missed(a, index) ? ', the model was confident of another token' : ''}`;
    };
    const describe = event => {
      const token = of(event);
      if (!token) return hideTip();
      const box = token.getBoundingClientRect();
      showTip(tell(Number(token.dataset.token)), event.clientX ?? box.left, event.clientY ?? box.bottom - 10);
    };
    for (const name of ['pointermove', 'focusin']) list.addEventListener(name, describe);
    for (const name of ['pointerleave', 'focusout']) list.addEventListener(name, hideTip);

    function shadeTokens(chosen) {
      const shade = shades.find(({name}) => name === chosen.text);
      if (!shade) return;
      const values = tokens.map((_, index) => shadeAt(a, shade, index));
      const [low, high] = shade.range ?? [0, extent(values)[1]];
      tokens.forEach((token, index) => {
        const value = values[index];
        const share = value === null ? 0 : Math.max(0, Math.min(1, (value - low) / (high - low)));
        token.style.setProperty('--heat', `${Math.round(60 * (shade.high === false && value !== null ? 1 - share : share))}%`);
        token.classList.toggle('missed', Boolean(missed(a, index)));
      });
      if (shadeChoice) shadeChoice.select.value = shade.name;
      const output = a.output;
      frame.say(h('b', {}, `${shade.label}. `), shade.text, ` ${output.confident_wrong ? 'Wavy underline: the model was confident of another token. ' : ''}` +
        `Perplexity ${number(output.perplexity)}; in ${percent((output.confident_correct + output.confident_wrong) / output.rows)} of the positions the model is confident (above ${CONFIDENT}). Choose a token to see who attends to it.`);
      chart.draw({
        data: {rows: values.flatMap((value, position) => (value === null ? [] : [{series: 'A', position, value}])), marks: chosen.token === null ? [] : [{position: chosen.token}]},
        signals: {lo: low, hi: high, xlo: 0, xhi: Math.max(1, total - 1)},
        label: `${shade.label} along the ${total} tokens of the text`,
      });
    }

    replace(frame.body, shadeChoice && h('div', {class: 'controls'}, shadeChoice.node), list, shades.length > 0 && chart.node);
    if (!shades.length) frame.say(`Choose a token to see who attends to it. ${a.output === null ? `No output to show: ${a.absent?.output ?? 'the model has no head'}.` : ''}`);
    return {
      node: h('section', {id: 'text'}, frame.node),
      update(chosen, changed) {
        if (changed.has('text') || changed.has('token')) shadeTokens(chosen);
        if (changed.has('token')) {
          list.querySelector('[aria-selected=true]')?.setAttribute('aria-selected', 'false');
          if (chosen.token !== null) { tokens[chosen.token].setAttribute('aria-selected', 'true'); move(chosen.token); }
          else move(focus);
        }
      },
    };
  },
};
