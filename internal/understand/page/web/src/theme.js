// Light and dark: as the system says, unless the reader switches.

const system = matchMedia('(prefers-color-scheme: dark)');
const listeners = [];
let asked = stored();
let printing = false;

function stored() {
  try {
    return localStorage.getItem('plimsoll-theme');
  } catch {
    return null; // a page from disk may be refused its storage
  }
}

// Without double quotes: the SVG writer puts it into an attribute as it is.
const font = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', 'DejaVu Sans', sans-serif";

export const isDark = () => !printing && (asked ? asked === 'dark' : system.matches);

// theme is what charts are drawn with.
export function theme() {
  return isDark()
    ? {dark: true, font, text: '#e4e7eb', muted: '#a3abb5', line: '#5c6672', grid: '#2c333b', back: '#15181c', panel: '#1c2025', accent: '#7fb4f5'}
    : {dark: false, font, text: '#1b2127', muted: '#59636e', line: '#8b949e', grid: '#e6e9ec', back: '#ffffff', panel: '#f6f7f9', accent: '#1f5fa8'};
}

export const onchange = f => listeners.push(f);

function changed() {
  document.documentElement.style.colorScheme = asked ?? '';
  for (const f of listeners) f();
}

export function toggle() {
  asked = isDark() ? 'light' : 'dark';
  try {
    localStorage.setItem('plimsoll-theme', asked);
  } catch {
    // It then holds for this page only.
  }
  changed();
}

system.addEventListener('change', changed);
addEventListener('beforeprint', () => { printing = true; changed(); });
addEventListener('afterprint', () => { printing = false; changed(); });
if (asked) document.documentElement.style.colorScheme = asked;
