/* json.c: one JSON object, in one line, and the sorting of what goes into it. */
#include "bench.h"
#include "verbs.h"
#include "small.h"

static struct out out;
static int first;

static void key(const char *k) {
	if (!first)
		out_text(&out, ",");
	first = 0;
	out_text(&out, "\"");
	out_text(&out, k);
	out_text(&out, "\":");
}

void json_begin(const char *name) {
	out.fd = 1;
	out_text(&out, "{");
	first = 1;
	json_text("name", name);
}

/* Our own names only: nothing in them needs to be escaped. */
void json_text(const char *k, const char *v) {
	key(k);
	out_text(&out, "\"");
	out_text(&out, v);
	out_text(&out, "\"");
}

void json_num(const char *k, i64 v) {
	key(k);
	out_num(&out, v);
}

void json_real(const char *k, double v) {
	i64 whole = (i64)v, rest = (i64)((v - (double)whole) * 1000 + 0.5);
	if (rest == 1000)
		whole++, rest = 0;
	key(k);
	out_num(&out, whole);
	out_text(&out, rest < 10 ? ".00" : rest < 100 ? ".0" : ".");
	out_num(&out, rest);
}

void json_open(const char *k) {
	key(k);
	out_text(&out, "{");
	first = 1;
}

void json_close(void) {
	out_text(&out, "}");
	first = 0;
}

void json_end(void) {
	out_text(&out, "}\n");
	out_flush(&out);
	if (out.err)
		sys_exit(STATUS_IO);
}

void json_rate(i64 count, i64 ns) {
	json_num("count", count);
	json_num("ns", ns);
	json_real("per_second", (double)count * 1e9 / (double)(ns ? ns : 1));
}

/* By insertion: there are a thousand at most. */
i64 median_of(i64 *v, usize n) {
	for (usize i = 1; i < n; i++) {
		i64 x = v[i];
		usize k = i;
		for (; k > 0 && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
	return (v[n / 2] + v[(n - 1) / 2]) / 2;
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
