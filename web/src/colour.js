// Colour scales that survive colour blindness: viridis for amounts, blue to orange for differences.

const VIRIDIS = ['#440154', '#472d7b', '#3b528b', '#2c728e', '#21918c', '#28ae80', '#5ec962', '#addc30', '#fde725'];
const DIFFERENCE = {
  light: ['#0b4f94', '#3f8fc9', '#a5cfe6', '#f1f1ee', '#fdc38d', '#e77a1c', '#8f3a04'],
  dark: ['#9fd3ff', '#4b9fdc', '#225a86', '#2b2f36', '#7a4a1c', '#d9782a', '#ffc58f'],
};

const channels = hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));

function ramp(stops) {
  const colours = stops.map(channels);
  return share => {
    const at = Math.max(0, Math.min(1, share)) * (colours.length - 1);
    const low = Math.min(Math.floor(at), colours.length - 2);
    return colours[low].map((from, c) => Math.round(from + (at - low) * (colours[low + 1][c] - from)));
  };
}

export const isDark = () => getComputedStyle(document.documentElement).getPropertyValue('--dark').trim() === '1';

const amounts = ramp(VIRIDIS);
const differences = {light: ramp(DIFFERENCE.light), dark: ramp(DIFFERENCE.dark)};

export const amount = amounts; // share in [0, 1] -> [red, green, blue]
export const difference = share => differences[isDark() ? 'dark' : 'light'](share);
export const css = ([red, green, blue]) => `rgb(${red} ${green} ${blue})`;
export const hex = colour => `#${colour.map(c => c.toString(16).padStart(2, '0')).join('')}`;

// Black or white, whichever reads better on a colour (relative luminance of WCAG 2).
export function inkOn(colour) {
  const [red, green, blue] = colour.map(c => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#000000' : '#ffffff';
}

export const gradient = scale =>
  `linear-gradient(to right, ${Array.from({length: 17}, (_, i) => css(scale(i / 16))).join(', ')})`;
