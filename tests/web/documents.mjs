// Result documents of the shape of docs/result.md with made-up numbers, for what real models do not show: hostile names,
// values that are absent, heads that were not measured.

// A small generator of repeatable numbers in [0, 1).
function numbers(seed) {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}

const ROW_MEASURES = ['entropy', 'entropy_norm', 'p_max', 'theta', 'theta_cert', 'jac_2'];
const SCALARS = ['first_key', 'sink_weight', 'sink_value_share', 'sparsity', 'prev_token', 'same_token', 'saturated_share'];

const info = (name, scope, more = {}) => ({name, label: `The ${name}`, unit: '', min: 0, max: 1, direction: 'none', scope, definition: `definition of ${name}`, source: 'a paper', ...more});
export const metrics = [...ROW_MEASURES.map(name => info(name, 'row')), info('max_logit', 'head', {min: null, max: null}), info('induction', 'head'), ...SCALARS.map(name => info(name, 'head'))];

function summary(next, rows) {
  const sorted = Array.from({length: 7}, next).sort((a, b) => a - b);
  const [min, p5, p25, median, p75, p95, max] = sorted;
  return {count: rows, mean: (min + median + max) / 3, min, p5, p25, median, p75, p95, max};
}

// A causal map: each row sums to 1 over the keys it may see.
function map(next, bins) {
  const bytes = Buffer.alloc(bins * bins);
  for (let query = 0; query < bins; query++) {
    const weights = Array.from({length: query + 1}, () => next() ** 4);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    weights.forEach((weight, key) => { bytes[query * bins + key] = Math.round(255 * Math.sqrt(weight / total)); });
  }
  return {queries: bins, keys: bins, data: bytes.toString('base64')};
}

function head(next, index, tokens) {
  const rows = tokens - 1, bins = Math.min(64, tokens);
  return {
    index, ...Object.fromEntries(ROW_MEASURES.map(name => [name, summary(next, rows)])),
    rows, single_key_rows: 1, masked_rows: 0, non_finite_rows: 0, theta_exact_share: 1,
    max_logit: 20 * next(), sink_rate: Math.round(next()), sink_key: 0,
    ...Object.fromEntries(SCALARS.map(name => [name, next()])),
    induction: null, absent: {induction: 'no token occurs twice'},
    saturated: 2, scale_driven: 1, genuine: 3,
    top_keys: [0, 2, 1].map((key, at) => ({key, weight: 0.6 / (at + 1)})),
    profile: {theta: Array.from({length: bins}, (_, bin) => (bin ? next() : null)), p_max: Array.from({length: bins}, next)},
    map: map(next, bins),
  };
}

const hidden = (next, massive = []) => ({block_inf_rms: 5 + next(), max_abs: 200 + next(), max_token: 0, max_dimension: 3, median_abs: next(), massive, non_finite: null});

export function inspectResult({name = 'tiny', tokens = 12, layers = 3, heads = 4, seed = 1, input = 'text.txt', text} = {}) {
  const next = numbers(seed);
  const made = Array.from({length: layers}, (_, index) => ({
    index, heads: Array.from({length: heads}, (_, at) => head(next, at, tokens)),
    pooled: {...Object.fromEntries(ROW_MEASURES.map(measure => [measure, summary(next, heads * (tokens - 1))])), ...Object.fromEntries(SCALARS.map(measure => [measure, next()])), max_logit: 10},
    hidden: hidden(next, index === 1 ? [{token: 0, dimension: 3, value: -900}] : []),
  }));
  const list = last => Array.from({length: tokens}, (_, at) => (last && at === tokens - 1 ? null : next()));
  return {
    softscope: '0.1.0', schema: 1, command: 'inspect',
    model: {name, file: `${name}.gguf`, architecture: 'llama', layers, heads, kv_heads: heads, width: 64, head_width: 16, ffn_width: 128, vocabulary: 100, context: 512, parameters: 12345, causal: true, weights: 'F32'},
    input: {name: input, tokens, ids: Array.from({length: tokens}, (_, at) => at), text: text ?? Array.from({length: tokens}, (_, at) => `${at ? ' ' : ''}word${at}`)},
    settings: {dtype: 'f32', threads: 1, isa: 'avx2', row_range: 'rows with two or more keys', sink_threshold: 0.3, saturated_theta: 0.01},
    metrics, embedding: hidden(next), layers: made, final: hidden(next),
    output: {rows: tokens, theta: summary(next, tokens), p_max: summary(next, tokens), nll_mean: 3, perplexity: 20.1, confident_correct: 1, confident_wrong: 2, numeric: 0,
      tokens: {nll: list(true), p_max: list(), entropy: list(), theta: list(), target_p: list(true)}},
    findings: [
      {id: 'saturated-heads', severity: 'warning', text: '1 of 12 heads is saturated.', layer: 2, head: 1, metric: 'saturated_share', value: made[2].heads[1].saturated_share, threshold: 0.5},
      {id: 'massive-activation', severity: 'info', text: 'A massive activation.', layer: 1, token: 0, metric: 'max_abs', value: -900, threshold: 100},
    ],
  };
}

// Weights of shape [layers, heads, rows, keys] from a file.
export function thetaResult() {
  const next = numbers(7);
  const measures = () => ({...Object.fromEntries(ROW_MEASURES.map(name => [name, summary(next, 10)])), count: 10, single_key_rows: 1, masked_rows: 0, not_distribution: {count: 0, max_sum_error: 1e-7, reasons: {}}});
  return {
    softscope: '0.1.0', schema: 1, command: 'theta', input: {name: 'attention.npy', shape: [2, 3, 10, 10], kind: 'weights', tau: 1, support: 'causal'}, settings: {dtype: 'f32'}, metrics,
    rows: {...measures(), rows: 7, saturated: 1, profile: {theta: Array.from({length: 10}, (_, at) => (at ? next() : null))}, not_distribution: {count: 3, max_sum_error: 0.25, reasons: {sum: 3}}},
    groups: [0, 1].flatMap(layer => [0, 1, 2].map(at => ({index: [layer, at], ...measures()}))),
    findings: [{id: 'not-distribution', severity: 'warning', text: '3 rows are no distribution.', metric: 'theta'}],
  };
}
