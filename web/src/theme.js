// Light or dark: what the system asks for, or what the reader chose; always light on paper.
const asks = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set();
let chosen = 'auto', onPaper = false;

function apply() {
  const dark = !onPaper && (chosen === 'dark' || (chosen === 'auto' && asks.matches));
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  for (const listener of listeners) listener();
}

export const theme = {
  get: () => chosen,
  set(to) { chosen = to; apply(); },
  listen: listener => listeners.add(listener),
};

asks.addEventListener('change', apply);
addEventListener('beforeprint', () => { onPaper = true; apply(); });
addEventListener('afterprint', () => { onPaper = false; apply(); });
apply();
