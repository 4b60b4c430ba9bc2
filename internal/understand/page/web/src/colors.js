// Colours that people with colour blindness tell apart: the hues of Okabe and
// Ito (2008), with lightness and chroma set so that each stands out against the
// page in both themes. An engine has a hue, its environments have shades of it;
// engines beyond the hues repeat them with another symbol.

const hues = [[245, 0.13], [48, 0.16], [165, 0.12], [350, 0.15], [85, 0.13], [215, 0.10], [300, 0.14], [20, 0.17]];
const symbols = ['circle', 'rect', 'triangle', 'diamond', 'path://M0 0L10 0L5 9Z', 'path://M3.5 0h3v3.5H10v3H6.5V10h-3V6.5H0v-3h3.5Z', 'path://M2 0L5 3L8 0L10 2L7 5L10 8L8 10L5 7L2 10L0 8L3 5L0 2Z'];
const grays = {native: [0, 'diamond'], floor: [0, 'triangle'], host: [0, 'rect']};

// oklch gives the sRGB colour of a lightness, chroma and hue (Ottosson 2020).
export function oklch(l, c, hue) {
  const a = c * Math.cos(hue * Math.PI / 180), b = c * Math.sin(hue * Math.PI / 180);
  const x = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const y = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const z = (l - 0.0894841775 * a - 1.2914855480 * b) ** 3;
  const rgb = [4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z,
    -1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z,
    -0.0041960863 * x - 0.7034186147 * y + 1.7076147010 * z];
  return `#${rgb.map(v => {
    v = Math.min(1, Math.max(0, v));
    v = v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055;
    return Math.round(255 * v).toString(16).padStart(2, '0');
  }).join('')}`;
}

// palette gives each environment its colour and symbol.
export function palette(envs, dark) {
  const groups = [...new Set(envs.filter(e => !e.baseline).map(e => e.group))];
  const [from, to] = dark ? [0.86, 0.68] : [0.42, 0.60];
  return envs.map(e => {
    if (e.baseline) return {color: oklch(dark ? 0.80 : 0.42, grays[e.baseline]?.[0] ?? 0, 0), symbol: grays[e.baseline]?.[1] ?? 'diamond'};
    const g = groups.indexOf(e.group), [hue, chroma] = hues[g % hues.length];
    const same = envs.filter(x => !x.baseline && x.group === e.group), at = same.indexOf(e);
    const l = same.length === 1 ? (dark ? 0.75 : 0.53) : from + (to - from) * at / (same.length - 1);
    return {color: oklch(l, chroma, hue), symbol: symbols[Math.floor(g / hues.length + at) % symbols.length]};
  });
}

// steps are colours of consecutive phases: neighbours differ in lightness too.
export function steps(n, dark) {
  const order = [245, 85, 165, 350, 205, 48, 300, 125, 20];
  return Array.from({length: n}, (_, i) => oklch((dark ? [0.72, 0.84, 0.62] : [0.50, 0.72, 0.61])[(i + Math.floor(i / order.length)) % 3], 0.12, order[i % order.length]));
}

// diverging is a scale from better (blue) by neutral to worse (orange).
export function diverging(dark) {
  return dark
    ? [oklch(0.62, 0.13, 245), oklch(0.45, 0.08, 245), oklch(0.31, 0.005, 245), oklch(0.48, 0.09, 55), oklch(0.68, 0.15, 55)]
    : [oklch(0.55, 0.14, 245), oklch(0.80, 0.08, 245), oklch(0.97, 0.003, 245), oklch(0.84, 0.09, 65), oklch(0.62, 0.16, 48)];
}

// luminance of a colour, as WCAG defines it.
export function luminance(hex) {
  const [r, g, b] = [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16) / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// ink is black or white, whichever is read better on a colour.
export const ink = hex => luminance(hex) > 0.18 ? '#111111' : '#ffffff';

// mix goes along a list of colours, at from 0 to 1.
export function mix(colors, at) {
  const p = Math.min(1, Math.max(0, at)) * (colors.length - 1), i = Math.min(colors.length - 2, Math.floor(p));
  return `#${[1, 3, 5].map(k => {
    const a = parseInt(colors[i].slice(k, k + 2), 16), b = parseInt(colors[i + 1].slice(k, k + 2), 16);
    return Math.round(a + (p - i) * (b - a)).toString(16).padStart(2, '0');
  }).join('')}`;
}
