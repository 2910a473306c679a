// Numbers in plain sentences: the verdict on a result, what a head does, what a kind of finding means. Every sentence is
// made from values that stand in the document.
import {count, number, percent, visible, whole} from './format.js';
import {findingGroups, pick, tokenText} from './result.js';

// What a metric means to someone who meets it for the first time.
export const PLAIN = {
  theta: 'How far the attention can still shift when its scores shift. 1: free to move. 0: frozen.',
  theta_cert: 'A quick lower bound of θ. Close to θ means the bound is good.',
  jac_inf_1: 'θ divided by the temperature: the exact worst-case change of a row per unit of score.',
  jac_2: 'The same question as θ in Euclidean length.',
  jac_inf: 'The largest change of a single weight per unit of score.',
  jac_frob: 'The overall size of the row’s response to its scores.',
  entropy: 'How widely a token spreads its attention. 0: on one key only.',
  entropy_norm: 'Spread of attention from 0 (one key) to 1 (all keys alike).',
  p_max: 'The weight on the favourite key. Near 1: the rest is ignored.',
  max_logit: 'The largest score before the softmax. Very large scores freeze attention and overflow small number types.',
  max_logit_raw: 'The largest score before the soft cap is applied.',
  first_key: 'How much attention is parked on the very first token.',
  sink_rate: 'Whether the head parks more than the threshold of its attention on the first token.',
  sink_weight: 'How much attention the most popular key receives from the tokens that can see it.',
  sink_value_share: 'How much of the head’s output comes from that popular key. Small: the parked attention says nothing.',
  sparsity: 'How much of a row one key takes, on average.',
  dominance: 'How much of the first row (CLS) its favourite key takes.',
  prev_token: 'How much each token looks at the one just before it.',
  same_token: 'How much each token looks at itself.',
  induction: 'How much a repeated token looks at what followed it last time: copying in context.',
  saturated: 'Rows whose θ is at most 0.01: almost no gradient passes.',
  saturated_share: 'The share of rows whose θ is at most 0.01: almost no gradient passes.',
  theta_exact_share: 'The share of rows whose θ is proved exact rather than bracketed.',
  scale_driven: 'Sharp rows that soften once query and key vectors have normal length.',
  genuine: 'Sharp rows that stay sharp at normal vector lengths: a real choice.',
};

// What kinds of findings are called and why they matter, notes in the order in which they are worth knowing. A kind that
// is not listed shows its own text only.
export const KIND = {
  'non-finite': {title: 'NaN or infinity', text: 'From here on the numbers mean nothing. Fix the named tensor first.'},
  'saturated-heads': {title: 'Frozen heads', text: 'Their attention no longer follows its scores, and training can hardly change that.'},
  'scale-driven': {title: 'Sharp by size, not by meaning', text: 'These rows pick one key because the vectors are long, not because they agree.'},
  'float16-overflow': {title: 'Scores too large for float16', text: 'Computed in float16, this model breaks here.'},
  'high-logit': {title: 'Very large scores', text: 'Scores this large freeze attention on one key and often come before a training run diverges.'},
  'attention-sink': {title: 'Attention sink', text: 'Heads that park their attention on one token when they have nothing to say. Common in trained models and mostly harmless.'},
  'massive-activation': {title: 'Massive activations', text: 'A few hidden values dwarf all others. They often feed an attention sink, and they hurt when numbers are stored in 8 bits or fewer.'},
  'induction-heads': {title: 'Induction heads', text: 'They copy from earlier in the text: the mechanism behind learning in context.'},
  'sink-elsewhere': {title: 'Sink at another token', text: 'The same parking, at a token that is not the first.'},
  'previous-token-heads': {title: 'Previous-token heads'},
  'lost-mask': {title: 'Weight where none may be', text: 'Keys that a query may not see hold weight, so these rows are not what was declared.'},
  'not-distribution': {title: 'Rows that are no distribution', text: 'Entropy and θ speak of weights that sum to 1. These rows have neither.'},
  'confident-wrong': {title: 'Confident and wrong'},
  'numeric-saturation': {title: 'Certain beyond float32'},
  'theta-proved': {title: 'How much of θ is proved'},
  cut: {title: 'Part of the text'},
  'largest-logit': {title: 'Largest score'},
  'model-file': {title: 'About the model file'},
  'double-bos': {title: 'Two begin-of-text tokens'},
  'fail-on': {title: 'A condition you set'},
};

// massive-activation -> Massive activation
export const sentence = id => id[0].toUpperCase() + id.slice(1).replaceAll('-', ' ');

const list = words => (words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`);

// {level, headline, detail}: the one thing to say about a result.
export function verdict(doc) {
  const groups = findingGroups(doc);
  const kinds = severity => groups.filter(group => group.severity === severity);
  const errors = kinds('error'), warnings = kinds('warning'), notes = kinds('info');
  const [subject, fine] = doc.command === 'theta' ? ['these rows', 'These rows can be measured'] : ['this model’s attention', 'This model’s attention works'];
  if (errors.length)
    return {level: 'error', headline: `Something is broken in ${subject}`, detail: `${count(errors.length, 'kind')} of error${warnings.length ? ` and ${count(warnings.length, 'kind')} of warning` : ''} below; start with the first.`};
  if (warnings.length)
    return {level: 'warning', headline: `${fine}, with ${count(warnings.length, 'thing')} to look at`, detail: 'No error was found. What is unusual, and where it shows:'};
  return {level: 'good', headline: `No trouble found in ${subject}`, detail: notes.length ? 'The notes below are worth knowing, but nothing asks for action.' : 'Every check stayed within its threshold.'};
}

const quoted = (doc, token) => `token ${token} “${visible(tokenText(doc, token))}”`;
const everyHead = doc => (doc.layers ?? []).flatMap(layer => layer.heads.map(head => ({layer: layer.index, head: head.index, at: head})));

function largest(items, value) {
  return items.reduce((best, item) => (best === null || (value(item) ?? -Infinity) > (value(best) ?? -Infinity) ? item : best), null);
}

// The key figures of rows from a file.
function rowFigures({rows = {}}) {
  const broken = rows.not_distribution?.count ?? 0, figures = [];
  const add = (label, value, text, go = {metric: 'theta'}) => figures.push({label, value, text, go, anchor: 'rows'});
  if (typeof rows.rows === 'number') add('Rows measured', `${whole(rows.rows)} of ${whole(rows.count)}`, `${count(rows.single_key_rows ?? 0, 'row')} with a single key and ${whole(rows.masked_rows ?? 0)} with every key masked are counted apart.`);
  if (typeof rows.saturated === 'number') add('Frozen rows', whole(rows.saturated), 'Their θ is at most 0.01: almost no gradient gets through.', {metric: 'theta', stat: 'min'});
  if (rows.theta) add('θ, median', number(rows.theta.median), `From ${number(rows.theta.min)} to ${number(rows.theta.max)}.`);
  add('No distribution', whole(broken), broken ? 'They have no entropy and no θ.' : 'Every row is one.');
  return figures;
}

// The key figures of a result: [{label, value, text, go, anchor}], go being what a click chooses.
export function keyFigures(doc) {
  if (doc.command === 'theta') return rowFigures(doc);
  const heads = everyHead(doc), figures = [];
  const having = name => heads.filter(({at}) => typeof at[name] === 'number');
  const threshold = doc.settings?.sink_threshold ?? 0.3;
  const frozen = having('saturated_share').filter(({at}) => at.saturated_share > 0.5).length;
  if (having('saturated_share').length) figures.push({label: 'Frozen heads', value: `${whole(frozen)} of ${whole(having('saturated_share').length)}`, go: {metric: 'saturated_share'},
    text: frozen ? 'More than half of their rows have θ ≤ 0.01: almost no gradient gets through.' : 'No head has lost its ability to shift on most rows.'});
  const parked = having('sink_rate').filter(({at}) => at.sink_rate === 1).length;
  if (having('sink_rate').length) figures.push({label: 'Parked on the first token', value: `${whole(parked)} of ${whole(having('sink_rate').length)}`, go: {metric: 'first_key'},
    text: `Heads that put more than ${number(threshold)} of their attention on the first token, an “attention sink”.`});
  const loud = largest(having('max_logit'), ({at}) => at.max_logit);
  if (loud) figures.push({label: 'Largest score', value: number(loud.at.max_logit), go: {metric: 'max_logit', layer: loud.layer, head: loud.head},
    text: `The largest number to enter a softmax: layer ${loud.layer}, head ${loud.head}.`});
  const high = largest(doc.layers ?? [], layer => layer.hidden?.max_abs);
  if (high?.hidden?.max_abs) {
    const spikes = doc.layers.filter(layer => layer.hidden?.massive?.length).length;
    figures.push({label: 'Largest hidden value', value: number(high.hidden.max_abs), go: {layer: high.index, token: high.hidden.max_token}, anchor: 'layers',
      text: `After layer ${high.index}, at ${quoted(doc, high.hidden.max_token)}. ${spikes ? `Massive activations in ${count(spikes, 'layer')}.` : 'No massive activations.'}`});
  }
  const output = doc.output;
  if (output) figures.push({label: 'Perplexity', value: number(output.perplexity), go: {text: 'target_p'}, anchor: 'text',
    text: `${count(output.confident_wrong, 'prediction')} confident (above 0.9) and wrong, ${whole(output.confident_correct)} confident and right, of ${whole(output.rows)}.`});
  return figures;
}

// What one head does: [{tone, text}], tone "warning" where it deserves a look.
export function diagnosis(doc, head) {
  const said = [], say = (text, tone = 'plain') => said.push({text, tone});
  if (head.missing) return [{text: 'This head was not measured: the result holds a choice of layers and heads.', tone: 'plain'}];
  const theta = head.theta, median = pick(head, 'theta', 'median');
  const measured = 'theta' in head;
  if (head.non_finite_rows) say(`${count(head.non_finite_rows, 'row')} hold a NaN or an infinity.`, 'warning');
  if (!measured) say('Its rows were not measured in this result.');
  else if (median === null) say(`θ is absent: ${head.absent?.theta ?? 'no row has two keys or more'}.`);
  else {
    const words = median > 0.9 ? ['Responsive', 'plain'] : median > 0.3 ? ['Partly stiff', 'plain'] : median > 0.01 ? ['Stiff', 'warning'] : ['Frozen', 'warning'];
    say(`${words[0]}: half of its rows have a θ of ${number(median)} or ${median > 0.3 ? 'more' : 'less'}; it runs from ${number(theta.min)} to ${number(theta.max)}. ` +
      `If no score moves by more than 0.1, none of its rows moves by more than ${number(0.05 * theta.max)} in total variation (to first order).`, words[1]);
  }
  if (head.saturated) say(`${whole(head.saturated)} of its ${whole(head.rows)} rows are saturated (θ ≤ 0.01): gradients through them shrink at least a hundredfold.`, head.saturated_share > 0.5 ? 'warning' : 'plain');
  const threshold = doc.settings?.sink_threshold ?? 0.3;
  if (head.sink_weight > threshold) {
    const share = head.sink_value_share;
    const effect = typeof share !== 'number' ? '' : share < 0.3
      ? ` That key’s value makes up only ${percent(share)} of the head’s output: it parks attention there and says little (a “no-op”).`
      : ` That key’s value makes up ${percent(Math.min(share, 1))} of the head’s output: it broadcasts that token.`;
    say(`Sink: on average ${percent(head.sink_weight)} of its attention falls on ${quoted(doc, head.sink_key)}.${effect}`, 'plain');
  }
  const sharp = (head.scale_driven ?? 0) + (head.genuine ?? 0);
  if (sharp) say(`${count(sharp, 'row is', 'rows are')} all but one-hot (largest weight ≥ 0.99): ${whole(head.scale_driven)} only because the query and key vectors are long (scale-driven), ${whole(head.genuine)} by direction (genuine).`);
  const habits = [['prev_token', 'the previous token'], ['same_token', 'the token itself'], ['induction', 'what followed the last occurrence (induction)']]
    .filter(([name]) => head[name] > 0.3).map(([name, what]) => `${what} (${percent(head[name])})`);
  if (habits.length) say(`It mostly looks at ${list(habits)}.`);
  if (head.max_logit > 50) say(`Its largest score is ${number(head.max_logit)}.`);
  return said;
}
