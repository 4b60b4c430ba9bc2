// What a page's layout may get wrong, as an object with a function each.
({
	// Boxes of the lines of text that a reader sees, cut to what their ancestors let through.
	boxes() {
		const found = [];
		const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
		for (let node; (node = walker.nextNode());) {
			const parent = node.parentElement, text = node.data.trim();
			if (!text || !parent.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
			if (parent.closest("script, style, noscript, title, desc, template")) continue;
			const range = document.createRange();
			range.selectNodeContents(node);
			for (const r of range.getClientRects()) {
				let {left, top, right, bottom} = r;
				for (let e = parent; e && e !== document.body; e = e.parentElement) {
					const s = getComputedStyle(e);
					if (s.overflow === "visible" && s.clipPath === "none") continue;
					const b = e.getBoundingClientRect();
					left = Math.max(left, b.left), right = Math.min(right, b.right);
					top = Math.max(top, b.top), bottom = Math.min(bottom, b.bottom);
				}
				// A line's box is higher than its letters.
				const slack = (bottom - top) * 0.2;
				if (right - left > 2 && bottom - top > 2) found.push({node, text, left, right, top: top + slack, bottom: bottom - slack});
			}
		}
		return found;
	},
	overlaps() {
		const boxes = this.boxes().sort((a, b) => a.top - b.top), found = [];
		for (let i = 0; i < boxes.length; i++) {
			const a = boxes[i];
			for (let k = i + 1; k < boxes.length && boxes[k].top < a.bottom - 1; k++) {
				const b = boxes[k];
				if (a.node === b.node || b.left >= a.right - 1 || a.left >= b.right - 1) continue;
				// A bar that stays on top when the page is scrolled is meant to lie over it.
				const fixed = n => { for (let e = n.parentElement; e; e = e.parentElement) if (/fixed|sticky/.test(getComputedStyle(e).position)) return true; return false; };
				if (fixed(a.node) !== fixed(b.node)) continue;
				found.push(`"${a.text.slice(0, 40)}" and "${b.text.slice(0, 40)}" at ${Math.round(b.left + scrollX)}, ${Math.round(b.top + scrollY)}`);
			}
		}
		return found;
	},
	wider() {
		const root = document.documentElement, width = root.clientWidth;
		if (root.scrollWidth <= width) return [];
		const wide = [...document.body.querySelectorAll("*")].filter(e => {
			const r = e.getBoundingClientRect();
			if (r.width === 0 || r.right + scrollX <= width + 0.5) return false;
			for (let p = e.parentElement; p && p !== document.body; p = p.parentElement)
				if (getComputedStyle(p).overflowX !== "visible") return false;
			return true;
		});
		return [`the document is ${root.scrollWidth} wide, the window ${width}`,
			...wide.slice(0, 5).map(e => e.outerHTML.slice(0, 100))];
	},
})
