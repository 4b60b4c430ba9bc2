"use strict";
// The lanes of one start, drawn on a canvas: a row for the way, one for each thread.
// The elements are box, canvas, said, shown, zoomIn, zoomOut and all; colour gives
// one by its name. The report's page draws with it, too.
globalThis.plimsollDrawLanes = (data, { box, canvas, said, shown, zoomIn, zoomOut, all }, colour) => {
	const rows = [{ name: "the way", bars: data.way }, ...data.threads.map((t) => ({ name: `${t.name} ${t.thread}`, bars: t.bars }))];
	const rowHeight = 22, axisHeight = 24;
	const state = { from: 0, to: data.span_ns, picked: -1, drawn: 0 };
	const ms = (ns) => (ns / 1e6).toFixed(ns < 1e5 ? 3 : 2);
	const names = () => Math.min(220, box.clientWidth * 0.3);
	const left = (ns) => names() + ((ns - state.from) / (state.to - state.from)) * (box.clientWidth - names());
	const time = (x) => state.from + ((x - names()) / (box.clientWidth - names())) * (state.to - state.from);

	function draw() {
		const width = box.clientWidth, height = axisHeight + rows.length * rowHeight, scale = window.devicePixelRatio || 1;
		canvas.width = width * scale;
		canvas.height = height * scale;
		canvas.style.height = `${height}px`;
		const c = canvas.getContext("2d");
		c.scale(scale, scale);
		c.font = "12px system-ui, sans-serif";
		c.textBaseline = "middle";
		axis(c, width, height);
		state.drawn = 0;
		rows.forEach((row, i) => bars(c, row, axisHeight + i * rowHeight, width, i === 0));
		shown.textContent = `${ms(state.from)} to ${ms(state.to)} of ${ms(data.span_ns)} ms`;
	}

	function axis(c, width, height) {
		const span = state.to - state.from;
		let step = 10 ** Math.floor(Math.log10(span / 4));
		for (const by of [2, 2.5, 2]) if (span / step > 10) step *= by;
		c.strokeStyle = colour("line");
		c.fillStyle = colour("faint");
		for (let at = Math.ceil(state.from / step) * step; at <= state.to; at += step) {
			const x = left(at);
			c.beginPath();
			c.moveTo(x, axisHeight - 4);
			c.lineTo(x, height);
			c.stroke();
			if (x + 50 < width) c.fillText(`${+(at / 1e6).toPrecision(6)} ms`, x + 2, axisHeight / 2);
		}
	}

	function bars(c, row, top, width, way) {
		const edge = names();
		for (const [i, b] of row.bars.entries()) {
			if (b.to < state.from || b.from > state.to) continue;
			const x = Math.max(edge, left(b.from)), end = Math.min(width, left(b.to));
			if (end < edge) continue;
			const waits = b.state === "waiting" || b.state === "unseen";
			c.fillStyle = colour(b.state);
			c.fillRect(x, top + (waits && !way ? 8 : 3), Math.max(end - x, 0.6), waits && !way ? 6 : 16);
			if (way && i === state.picked) {
				c.strokeStyle = colour("way");
				c.lineWidth = 2;
				c.strokeRect(x, top + 2, Math.max(end - x, 2), 18);
				c.lineWidth = 1;
			}
			state.drawn++;
		}
		c.fillStyle = colour("paper");
		c.fillRect(0, top, edge, rowHeight);
		c.fillStyle = colour("ink");
		let name = row.name;
		while (name.length > 4 && c.measureText(name).width > edge - 12) name = `${name.slice(0, -2).trimEnd()}…`;
		c.fillText(name, 4, top + rowHeight / 2);
	}

	function show(from, to) {
		const span = Math.min(data.span_ns, Math.max(1000, to - from));
		state.from = Math.max(0, Math.min(from, data.span_ns - span));
		state.to = state.from + span;
		draw();
	}

	function zoom(by, at = (state.from + state.to) / 2) {
		show(at - (at - state.from) * by, at + (state.to - at) * by);
	}

	function tell(name, b) {
		const parts = [`${b.who || name}: ${b.why}, ${ms(b.to - b.from)} ms from ${ms(b.from)} ms on`];
		if (b.by) parts.push(`ended by ${b.by}`);
		if (b.stack) parts.push(`in the kernel: ${b.stack.slice(0, 8).join(" ← ")}`);
		said.textContent = `${parts.join("; ")}.`;
	}

	function pick(i) {
		if (!data.way.length) return;
		state.picked = Math.max(0, Math.min(data.way.length - 1, i));
		const b = data.way[state.picked];
		tell("the way", b);
		if (b.from < state.from || b.to > state.to) {
			const span = Math.max(state.to - state.from, (b.to - b.from) * 1.2);
			show((b.from + b.to - span) / 2, (b.from + b.to + span) / 2);
		} else draw();
	}

	function at(event) {
		const r = canvas.getBoundingClientRect();
		const row = rows[Math.floor((event.clientY - r.top - axisHeight) / rowHeight)], t = time(event.clientX - r.left);
		return row && [row, row.bars.findIndex((b) => b.from <= t && t < b.to)];
	}

	let dragged = null;
	canvas.addEventListener("pointerdown", (e) => { dragged = { x: e.clientX, from: state.from, to: state.to }; canvas.setPointerCapture(e.pointerId); });
	canvas.addEventListener("pointerup", () => { dragged = null; });
	canvas.addEventListener("pointermove", (e) => {
		if (dragged) {
			const by = ((dragged.x - e.clientX) / (box.clientWidth - names())) * (dragged.to - dragged.from);
			return show(dragged.from + by, dragged.to + by);
		}
		const hit = at(e);
		if (hit && hit[1] >= 0) tell(hit[0].name, hit[0].bars[hit[1]]);
	});
	canvas.addEventListener("click", (e) => {
		const hit = at(e);
		if (hit && hit[0] === rows[0] && hit[1] >= 0) pick(hit[1]);
	});
	box.addEventListener("wheel", (e) => {
		const span = state.to - state.from;
		if (e.ctrlKey) zoom(e.deltaY > 0 ? 1.25 : 0.8, time(e.clientX - canvas.getBoundingClientRect().left));
		else if (e.deltaX || e.shiftKey) show(state.from + (span * (e.deltaX || e.deltaY)) / 1000, state.to + (span * (e.deltaX || e.deltaY)) / 1000);
		else return;
		e.preventDefault();
	}, { passive: false });
	const keys = { "+": () => zoom(0.5), "-": () => zoom(2), 0: () => show(0, data.span_ns), ArrowRight: () => pick(state.picked + 1), ArrowLeft: () => pick(state.picked - 1) };
	box.addEventListener("keydown", (e) => {
		if (e.ctrlKey || e.metaKey || !keys[e.key]) return;
		e.preventDefault();
		keys[e.key]();
	});
	zoomIn.addEventListener("click", keys["+"]);
	zoomOut.addEventListener("click", keys["-"]);
	all.addEventListener("click", keys[0]);
	new ResizeObserver(draw).observe(box);
	return Object.assign(state, { draw });
};

if (document.documentElement.dataset.lanes != null) {
	const at = (id) => document.getElementById(id);
	const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
	document.documentElement.classList.add("scripted");
	window.plimsollLanes = plimsollDrawLanes(JSON.parse(at("data").textContent),
		{ box: at("lanes"), canvas: at("canvas"), said: at("said"), shown: at("shown"), zoomIn: at("in"), zoomOut: at("out"), all: at("all") }, colour);
	plimsollLanes.draw();
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", plimsollLanes.draw);
}
