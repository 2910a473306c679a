// Reading a result document (docs/result.md): values by name, ranges, bins and maps. Nothing here computes a measure.

import {bytesOf} from './unpack.js';

export const isSummary = value => value !== null && typeof value === 'object' && 'median' in value;

// A document with every layer and head at its own place; those that were not measured become {index, missing: true}.
export function complete(doc) {
  if (!Array.isArray(doc.layers) && !doc.model?.layers) return doc;
  const fill = (list, many, hole) => {
    const all = Array.from({length: Math.max(many ?? 0, ...list.map(({index}) => index + 1))}, (_, index) => hole(index));
    for (const item of list) all[item.index] = item;
    return all;
  };
  const layers = fill(doc.layers ?? [], doc.model?.layers, index => ({index, missing: true}));
  return {...doc, layers: layers.map(layer => ({...layer, heads: fill(layer.heads ?? [], doc.model?.heads, index => ({index, missing: true}))}))};
}

// One number of a measure: a summary's statistic, or the scalar itself.
export function pick(holder, metric, statistic) {
  const value = holder?.[metric];
  if (isSummary(value)) return value[statistic] ?? null;
  return typeof value === 'number' ? value : null;
}

export const headAt = (doc, layer, head) => doc?.layers?.[layer]?.heads?.[head] ?? null;

// Why a value is missing, in the document's own words.
export const reason = (holder, metric) => (holder?.missing ? 'not measured' : holder?.absent?.[metric] ?? 'not in this result');

export function metricInfo(doc, name) {
  const found = doc.metrics?.find(metric => metric.name === name);
  return {name, label: name, unit: '', min: null, max: null, definition: '', source: '', ...found};
}

// Metrics that some head has: [{...info, summary: bool}], in the document's order.
export function headMetrics(doc) {
  const heads = (doc.layers ?? []).flatMap(layer => layer.heads ?? []);
  return (doc.metrics ?? [])
    .filter(({name}) => heads.some(head => head[name] !== null && head[name] !== undefined && pick(head, name, 'mean') !== null))
    .map(metric => ({...metric, summary: heads.some(head => isSummary(head[metric.name]))}));
}

// [lowest, highest] of some numbers, nulls aside; never empty, never of width zero.
export function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (typeof value !== 'number') continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return [0, 1];
  return low === high ? [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2] : [low, high];
}

// Does the metric live in [0, 1] by definition? (or any other fixed range)
export const fixedRange = ({min, max}) => (typeof min === 'number' && typeof max === 'number' ? [min, max] : null);

export const sameShape = (a, b) => Boolean(a?.layers && b?.layers && a.layers.length === b.layers.length &&
  a.layers.every((layer, index) => layer.heads.length === b.layers[index].heads.length));

// Bin of a position, and the positions [from, to] of a bin, for `bins` bins over `total` positions.
export const binOf = (position, bins, total) => Math.ceil(((position + 1) * bins) / total) - 1;
export const binRange = (bin, bins, total) =>
  [Math.floor((bin * total) / bins), Math.floor(((bin + 1) * total) / bins) - 1];

export const hasMaps = doc => (doc.layers ?? []).some(layer => layer.heads.some(head => head.map));
export const hasHidden = doc => (doc.layers ?? []).some(layer => layer.hidden?.max_abs > 0);

const decoded = new WeakMap();
// A map's cells as bytes; the weight of a cell is (byte / 255) squared. Null where there is none or it is malformed.
export function mapBytes(map) {
  if (!map || typeof map.data !== 'string') return null;
  if (!decoded.has(map)) {
    const bytes = bytesOf(map.data);
    decoded.set(map, bytes.length === map.queries * map.keys ? bytes : null);
  }
  return decoded.get(map);
}
// Was any row of the query bin counted? (rows with a single key are not)
export const hasRows = (map, query) => mapBytes(map).subarray(query * map.keys, (query + 1) * map.keys).some(byte => byte > 0);
export const mapWeight = (map, query, key) => (mapBytes(map)[query * map.keys + key] / 255) ** 2;

export const tokenText = (doc, index) => doc.input?.text?.[index] ?? `#${index}`;
export const tokenCount = doc => doc.input?.tokens ?? doc.input?.text?.length ?? 0;

// Does the tokenizer drop blanks and mark word pieces with "##"?
export const inPieces = doc => doc.model?.architecture === 'bert';

// The text of tokens [from, to] as it would be written.
export function phrase(doc, from, to) {
  const tokens = Array.from({length: to - from + 1}, (_, index) => tokenText(doc, from + index));
  return inPieces(doc) ? tokens.join(' ').replaceAll(' ##', '').replace(/^##(?=.)/, '') : tokens.join('');
}

const fullName = doc => doc.model?.name ?? doc.input?.name ?? doc.command;

// The shortest name that tells a result from another one: of the model, the text, or the number type.
export function shortName(doc, other) {
  const name = fullName(doc);
  if (!other || fullName(other) !== name) return name;
  if (other.input?.name !== doc.input?.name) return doc.input?.name ?? name;
  if (other.settings?.dtype !== doc.settings?.dtype) return doc.settings?.dtype ?? name;
  return name;
}

// What two results have in common, to say once: the model's name, or nothing.
export const commonName = (a, b) => (fullName(a) === fullName(b) ? fullName(a) : '');

const SEVERITY = {error: 0, warning: 1, info: 2};
// Findings of one kind together, most severe kind first: [{id, severity, list}].
export function findingGroups(doc) {
  const groups = new Map();
  for (const finding of doc.findings ?? []) {
    const key = `${finding.severity} ${finding.id}`;
    if (!groups.has(key)) groups.set(key, {id: finding.id, severity: finding.severity, list: []});
    groups.get(key).list.push(finding);
  }
  return [...groups.values()].sort((a, b) => (SEVERITY[a.severity] ?? 3) - (SEVERITY[b.severity] ?? 3));
}
