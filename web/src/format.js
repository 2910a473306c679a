// Numbers and tokens as a person reads them.

const DIGITS = {'-': '⁻', 0: '⁰', 1: '¹', 2: '²', 3: '³', 4: '⁴', 5: '⁵', 6: '⁶', 7: '⁷', 8: '⁸', 9: '⁹'};
const superscript = n => [...String(n)].map(digit => DIGITS[digit]).join('');

// Three digits or so: 0.982, 22,543, 2.1×10⁻⁵. Missing values are a dash.
export function number(value, digits = 3) {
  if (typeof value !== 'number' || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1e7 || size < 1e-3) {
    const [mantissa, exponent] = value.toExponential(digits - 2).split('e');
    return `${mantissa.replace('-', '−')}×10${superscript(Number(exponent))}`;
  }
  if (size >= 1000) return Math.round(value).toLocaleString('en').replace('-', '−');
  return String(Number(value.toPrecision(digits))).replace('-', '−');
}

// For a cell 34 pixels wide: .98, 1, 12, 2e4.
export function short(value) {
  if (value === null || value === undefined) return '';
  const size = Math.abs(value);
  if (size < 0.005) return '0';
  if (size >= 10000) return value.toExponential(0).replace('e+', 'e').replace('-', '−');
  const text = size < 1 ? value.toFixed(2).replace(/^(-?)0/, '$1') : String(Number(value.toPrecision(2)));
  return (text === '1.00' || text === '-1.00' ? text.slice(0, -3) : text).replace('-', '−');
}

// 0.0132 -> 1.3 %; a share that is not quite everything or nothing never rounds to it.
export function percent(share) {
  if (typeof share !== 'number') return '–';
  const value = 100 * share;
  if (value > 0 && value < 0.1) return 'under 0.1 %';
  if (value < 100 && value > 99.9) return 'over 99.9 %';
  return `${Number(value.toPrecision(value >= 99 ? 3 : 2))} %`;
}

export const whole = n => (typeof n === 'number' ? n.toLocaleString('en') : '–');
export const count = (n, one, many = `${one}s`) => `${whole(n)} ${n === 1 ? one : many}`;

// The first of 1, 2, 5 times a power of ten at or above a positive number, but never above `most`.
export function roundUp(value, most = Infinity) {
  const unit = 10 ** Math.floor(Math.log10(value));
  return Math.min(most, [1, 2, 5, 10].map(step => step * unit).find(step => step >= value * (1 - 1e-12)));
}

// A token so that blanks can be seen.
export function visible(text) {
  if (text === '') return '∅';
  return text.replaceAll('\n', '⏎').replaceAll('\t', '⇥').replaceAll('\r', '␍').replace(/^ | $/g, '␣').replace(/ {2,}/g, run => '␣'.repeat(run.length));
}

// 134515008 -> 134.5 M
export function big(n) {
  if (typeof n !== 'number') return '–';
  for (const [size, letter] of [[1e9, 'B'], [1e6, 'M'], [1e3, 'k']])
    if (n >= size) return `${Number((n / size).toPrecision(4))} ${letter}`;
  return String(n);
}
