/* payload.c: what runs inside.
 *
 * The first line goes out before anything else is looked at, in one write:
 * what the report costs lies behind it. */
#include "report.h"
#include "text.h"
#include "verbs.h"

struct args {
	const char *word;
	int status;
	int stay, ignore, unhandled, report, echo;
	i64 touch; /* bytes */
	i64 rest;  /* ns */
};

static struct out out;

static void parse(struct args *a, char **argv) {
	if (!argv[0] || !argv[0][0] || text_len(argv[0]) > 128)
		complain(STATUS_USAGE, "usage: payload WORD [--exit N] [--stay] [--on-term exit|ignore|none] [--report] [--touch BYTES] [--rest NS] [--echo]", 0);
	a->word = *argv++;
	for (; *argv; argv++) {
		if (text_eq(*argv, "--stay")) {
			a->stay = 1;
		} else if (text_eq(*argv, "--report")) {
			a->report = 1;
		} else if (text_eq(*argv, "--echo")) {
			a->echo = 1;
		} else if (text_eq(*argv, "--on-term") && argv[1]) {
			a->ignore = text_eq(*++argv, "ignore");
			a->unhandled = text_eq(*argv, "none");
			if (!a->ignore && !a->unhandled && !text_eq(*argv, "exit"))
				complain(STATUS_USAGE, "payload: --on-term takes exit, ignore or none", 0);
		} else if (text_eq(*argv, "--touch") && argv[1]) {
			a->touch = text_num(*++argv, 1LL << 46);
			if (a->touch < 0)
				complain(STATUS_USAGE, "payload: --touch takes a number of bytes", 0);
		} else if (text_eq(*argv, "--rest") && argv[1]) {
			a->rest = text_num(*++argv, MAX_NS);
			if (a->rest < 0)
				complain(STATUS_USAGE, "payload: --rest takes nanoseconds, an hour at most", 0);
		} else if (text_eq(*argv, "--exit") && argv[1]) {
			i64 n = text_num(*++argv, 255);
			if (n < 0)
				complain(STATUS_USAGE, "payload: --exit takes 0 to 255", 0);
			a->status = (int)n;
		} else {
			complain(STATUS_USAGE, "payload: unknown argument", 0);
		}
	}
}

/* say ends the buffered text in one write. Whoever closed our stdout has no
 * use for the rest. */
static void say(void) {
	out_flush(&out);
	if (out.err)
		sys_exit(STATUS_IO);
}

static void never(int sig) { (void)sig; }

/* expect_term makes sure, before we say that we are ready, that a SIGTERM is
 * kept for us. A blocked signal is queued even for PID 1, where an unhandled
 * one would be dropped (signal(7) and pid_namespaces(7)); the handler, which
 * is never run, convinces kernels other than Linux too. */
static void expect_term(int ignore) {
	struct ksigaction act = {ignore ? PROBE_SIG_IGN : never, 0, NULL, 0};
	sigset term = SIGBIT(SIGTERM);
	long r;
	if (!ignore) {
		r = sys_sigprocmask(SIG_BLOCK, &term);
		if (r < 0)
			complain(STATUS_SYSTEM, "payload: sigprocmask", r);
	}
	r = sys_sigaction(SIGTERM, &act);
	if (r < 0)
		complain(STATUS_SYSTEM, "payload: sigaction", r);
}

static void wait_term(int ignore) {
	sigset term = SIGBIT(SIGTERM);
	for (;;) {
		long r = ignore ? sys_ppoll(NULL, 0, NULL) : sys_sigtimedwait(&term, NULL);
		if (r == SIGTERM)
			return;
		if (r < 0 && r != -EINTR && r != -EAGAIN)
			complain(STATUS_SYSTEM, "payload: waiting for SIGTERM", r);
	}
}

/* touch takes memory and writes to each page of it, and keeps it. In small
 * pages: else the kernel may give more than was asked for. */
static void touch(i64 bytes) {
	volatile u8 *p = sys_anonymous((usize)bytes);
	if (failed_at((void *)p))
		complain(STATUS_SYSTEM, "payload: taking memory", failed_at((void *)p));
	/* A kernel that knows no huge pages says EINVAL, and gives none. */
	sys_madvise((void *)p, (usize)bytes, PROBE_MADV_NOHUGEPAGE);
	for (i64 at = 0; at < bytes; at += PROBE_PAGE)
		p[at] = 1;
	out_text(&out, "plimsoll touched ");
	out_num(&out, now());
	out_text(&out, "\n");
	say();
}

/* echo answers each line of stdin with a stamp, until its end. */
static void echo(void) {
	char in[512];
	for (;;) {
		long n = sys_read(0, in, sizeof(in));
		i64 at = now();
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return;
		for (long i = 0; i < n; i++) {
			if (in[i] != '\n')
				continue;
			out_text(&out, "plimsoll at ");
			out_num(&out, at);
			out_text(&out, "\n");
			say();
		}
	}
}

void verb_payload(i64 start, char **argv) {
	struct args a = {0};
	parse(&a, argv);
	if (a.stay && !a.unhandled)
		expect_term(a.ignore);

	out.fd = 1;
	out_text(&out, "plimsoll 1 ");
	out_value(&out, a.word, text_len(a.word));
	out_text(&out, " first ");
	out_num(&out, start);
	out_text(&out, "\n");
	say();

	if (a.report) {
		report(&out);
		say();
	}
	if (a.touch)
		touch(a.touch);
	if (a.echo)
		echo();
	else if (a.stay)
		wait_term(a.ignore || a.unhandled);
	if (a.rest)
		sleep_until(now() + a.rest);

	out_text(&out, "plimsoll done ");
	out_num(&out, now());
	out_text(&out, "\n");
	say();
	sys_exit(a.status);
}
