// The walk by the Tab key: start() watches the focus, end() says what it saw.
globalThis.plimsollKeyboard = (() => {
	const usable = 'a[href], area[href], button, input, select, textarea, summary, audio[controls], [contenteditable="true"], [tabindex]';
	// In these the arrow keys move, and Tab reaches one of the parts only.
	const groups = '[role="radiogroup"], [role="tablist"], [role="toolbar"], [role="listbox"], [role="grid"], [role="menu"], [role="menubar"], [role="tree"]';
	const name = e => {
		const text = (e.getAttribute("aria-label") || e.innerText || e.value || "").trim().replace(/\s+/g, " ").slice(0, 40);
		return e.tagName.toLowerCase() + (e.id && "#" + e.id) + (text && ` "${text}"`);
	};
	const seen = e => e.checkVisibility({visibilityProperty: true, opacityProperty: false}) && e.getClientRects().length > 0;
	const wanted = () => [...document.querySelectorAll(usable)].filter(e =>
		!e.disabled && e.type !== "hidden" && seen(e) && !e.closest("[inert]") &&
		!(e.tabIndex < 0 && (e.parentElement?.closest(groups) || !e.matches("a, button, input, select, textarea, summary"))) &&
		!(e.type === "radio" && !e.checked && document.querySelector(`input[type="radio"][name="${CSS.escape(e.name)}"]:checked`)) &&
		!(e.matches("summary") && e !== e.closest("details")?.querySelector("summary")));
	// How an element and what stands for it look: a hidden box may be shown by its label.
	const shown = e => [e, e.closest("label"), e.nextElementSibling, e.parentElement].map(x => {
		if (!x) return "";
		const s = getComputedStyle(x);
		const outline = s.outlineStyle === "none" || parseFloat(s.outlineWidth) === 0 ? "" : s.outline;
		return [outline, s.boxShadow, s.borderColor, s.backgroundColor, s.textDecorationLine].join("|");
	}).join("\n");
	// Is any of it in sight, with nothing over it? What its ancestors cut off is not.
	const insight = e => {
		let {left, top, right, bottom} = e.getBoundingClientRect();
		const cut = (l, t, r, b) => { left = Math.max(left, l), top = Math.max(top, t), right = Math.min(right, r), bottom = Math.min(bottom, b); };
		cut(0, 0, innerWidth, innerHeight);
		for (let a = e.parentElement; a && a !== document.body; a = a.parentElement) {
			if (getComputedStyle(a).overflow === "visible") continue;
			const b = a.getBoundingClientRect();
			cut(b.left, b.top, b.right, b.bottom);
		}
		if (right - left < 1 || bottom - top < 1) return false;
		const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
		// A hidden box of a pixel is shown by its label.
		return !hit || e.contains(hit) || hit.contains(e) || right - left < 4;
	};
	let stops = [], last = null, listeners = {};
	const leave = () => {
		if (last) last.visible = last.focused !== shown(last.element);
		last = null;
	};
	return {
		start() {
			const still = new CSSStyleSheet();
			still.replaceSync("* { transition: none !important; animation: none !important; scroll-behavior: auto !important }");
			document.adoptedStyleSheets = [...document.adoptedStyleSheets, still];
			document.activeElement?.blur();
			scrollTo(0, 0);
			getSelection().removeAllRanges();
			stops = [];
			listeners = {
				focusin: event => {
					leave();
					stops.push(last = {element: event.target, name: name(event.target), focused: shown(event.target), insight: true});
				},
				// Only now has the page come to rest where the focus is.
				keydown: () => { if (last) last.insight = insight(last.element); },
			};
			for (const [type, f] of Object.entries(listeners)) addEventListener(type, f, true);
			return wanted().length;
		},
		end() {
			listeners.keydown();
			for (const [type, f] of Object.entries(listeners)) removeEventListener(type, f, true);
			document.activeElement?.blur();
			leave();
			const reached = new Set(stops.map(s => s.element));
			const names = list => [...new Set(list.map(s => s.name))];
			return {
				Stops: stops.map(s => s.name),
				Missed: wanted().filter(e => !reached.has(e)).map(name),
				Unseen: names(stops.filter(s => !s.visible)),
				Covered: names(stops.filter(s => !s.insight)),
			};
		},
	};
})();
