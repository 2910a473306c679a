// What the reader has chosen, kept in the address (#layer=3&head=5&metric=theta) so that a link shows the same view.

const NUMBERS = new Set(['layer', 'head', 'token', 'doc', 'with']);

export function parse(hash) {
  const chosen = {};
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ''))) {
    if (!NUMBERS.has(key)) chosen[key] = value;
    else if (/^\d{1,9}$/.test(value)) chosen[key] = Number(value);
  }
  return chosen;
}

export function write(chosen, defaults) {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(chosen))
    if (value !== null && value !== undefined && value !== defaults[key]) parameters.set(key, value);
  return parameters.size ? `#${parameters}` : '';
}

// check(chosen) -> the same with impossible values replaced. Listeners get (chosen, set of changed keys).
export function createState(defaults, check) {
  let chosen = check({...defaults, ...parse(location.hash)});
  const listeners = new Set();
  function set(patch) {
    const next = check({...chosen, ...patch});
    const changed = new Set(Object.keys({...next, ...chosen}).filter(key => next[key] !== chosen[key]));
    chosen = next;
    if (changed.size === 0) return;
    history.replaceState(null, '', write(chosen, defaults) || location.pathname + location.search);
    for (const listener of [...listeners]) listener(chosen, changed);
  }
  addEventListener('hashchange', () => set({...defaults, ...parse(location.hash)}));
  return {get: () => chosen, set, listen: listener => listeners.add(listener), link: patch => write(check({...chosen, ...patch}), defaults) || '#'};
}
