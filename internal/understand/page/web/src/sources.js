// The papers that published numbers come from, as the program knows them.
let known;

export function sources() {
  if (!known) {
    try {
      known = JSON.parse(document.getElementById('sources')?.textContent ?? '[]');
    } catch {
      known = [];
    }
  }
  return known;
}
