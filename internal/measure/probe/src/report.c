/* report.c: what the payload sees from inside. What can't be read has no
 * line; where /proc is missing one line says so. */
#include "report.h"

static struct lines file;
static char small[1024];

void report_pair(struct out *o, const char *prefix, const char *key, const char *value, usize n) {
	out_text(o, "k ");
	out_text(o, prefix);
	out_value(o, key, text_len(key));
	out_text(o, " ");
	out_value(o, value, n);
	out_text(o, "\n");
}

void report_text(struct out *o, const char *key, const char *value) {
	report_pair(o, "", key, value, text_len(value));
}

void report_num(struct out *o, const char *key, i64 v) {
	out_text(o, "k ");
	out_text(o, key);
	out_text(o, " ");
	out_num(o, v);
	out_text(o, "\n");
}

static void namespaces(struct out *o) {
	static const char *const kinds[] = {"mnt", "pid", "net", "ipc", "uts", "user", "cgroup", "time"};
	for (usize i = 0; i < COUNT(kinds); i++) {
		char path[64], *from = small, *end;
		long n;
		if (text_join(path, sizeof(path), "/proc/self/ns/", kinds[i]) < 0)
			continue;
		n = sys_readlink(path, small, sizeof(small) - 1);
		if (n <= 0)
			continue;
		small[n] = 0;
		while (*from && *from != '[') /* "mnt:[4026531840]" */
			from++;
		if (*from)
			from++;
		for (end = from; *end && *end != ']'; end++)
			;
		report_pair(o, "ns.", kinds[i], from, (usize)(end - from));
	}
}

/* terminal says where the output goes, if that is a terminal. */
static void terminal(struct out *o) {
	long n = sys_readlink("/proc/self/fd/1", small, sizeof(small) - 1);
	if (n <= 0)
		return;
	small[n] = 0;
	if (text_begins(small, "/dev/pts/") || text_begins(small, "/dev/console"))
		report_pair(o, "", "terminal", small, (usize)n);
}

/* squeeze makes one blank of each run of them, and none at the ends. */
static usize squeeze(char *s) {
	usize n = 0;
	for (char *p = s; *p; p++) {
		char c = *p == '\t' ? ' ' : *p;
		if (c == ' ' && (n == 0 || s[n - 1] == ' ' || p[1] == 0))
			continue;
		s[n++] = c;
	}
	s[n] = 0;
	return n;
}

/* map gives a uid_map or gid_map in one line, its lines parted by "; ". */
static void map(struct out *o, const char *key, const char *path) {
	int first = 1;
	if (lines_open(&file, path) < 0)
		return;
	out_text(o, "k ");
	out_text(o, key);
	out_text(o, " ");
	while (lines_next(&file)) {
		usize n = squeeze(file.line);
		if (!first)
			out_text(o, "; ");
		out_value(o, file.line, n);
		first = 0;
	}
	out_text(o, "\n");
	lines_close(&file);
}

static void status(struct out *o) {
	static const struct {
		const char *field, *key;
	} fields[] = {
		{"CapInh:", "cap.inh"}, {"CapPrm:", "cap.prm"}, {"CapEff:", "cap.eff"},
		{"CapBnd:", "cap.bnd"}, {"CapAmb:", "cap.amb"}, {"Seccomp:", "seccomp"},
		{"NoNewPrivs:", "no_new_privs"}, {"Seccomp_filters:", "seccomp.filters"},
	};
	if (lines_open(&file, "/proc/self/status") < 0)
		return;
	while (lines_next(&file)) {
		for (usize i = 0; i < COUNT(fields); i++) {
			char *v = file.line + text_len(fields[i].field);
			if (!text_begins(file.line, fields[i].field))
				continue;
			report_pair(o, "", fields[i].key, v, squeeze(v));
		}
	}
	lines_close(&file);
}

static void one_line(struct out *o, const char *key, const char *path) {
	long n = read_file(path, small, sizeof(small));
	if (n <= 0)
		return;
	if (small[n - 1] == '\n')
		n--;
	report_pair(o, "", key, small, (usize)n);
}

static void limit(struct out *o, const char *key, int res) {
	struct rlimit64 r;
	if (sys_prlimit(res, NULL, &r) < 0)
		return;
	out_text(o, "k ");
	out_text(o, key);
	for (int i = 0; i < 2; i++) {
		u64 v = i ? r.rlim_max : r.rlim_cur;
		out_text(o, i ? ":" : " ");
		if (v == ~0ULL)
			out_text(o, "unlimited");
		else
			out_num(o, (i64)v);
	}
	out_text(o, "\n");
}

/* interfaces counts and names the network interfaces. */
static void interfaces(struct out *o) {
	i64 n = 0;
	if (lines_open(&file, "/proc/net/dev") < 0)
		return;
	out_text(o, "k net.names ");
	while (lines_next(&file)) {
		char *from = file.line, *end;
		while (*from == ' ')
			from++;
		for (end = from; *end && *end != ':' && *end != '|'; end++)
			;
		if (*end != ':') /* the two lines of the heading have bars */
			continue;
		if (n++)
			out_text(o, ",");
		out_value(o, from, (usize)(end - from));
	}
	out_text(o, "\n");
	lines_close(&file);
	report_num(o, "net.interfaces", n);
}

static void machine(struct out *o) {
	struct new_utsname u;
	if (sys_uname(&u) < 0)
		return;
	report_text(o, "uname.release", u.release);
	report_text(o, "uname.version", u.version);
	report_text(o, "uname.nodename", u.nodename);
	report_text(o, "uname.machine", u.machine);
}

void report(struct out *o) {
	report_num(o, "clock.monotonic", now());
	report_num(o, "clock.boottime", sys_clock(PROBE_CLOCK_BOOTTIME));
	report_num(o, "clock.realtime", sys_clock(PROBE_CLOCK_REALTIME));
	report_num(o, "pid", sys_getpid());
	report_num(o, "ppid", sys_getppid());
	report_num(o, "uid", sys_getuid());
	report_num(o, "gid", sys_getgid());
	report_num(o, "euid", sys_geteuid());
	report_num(o, "egid", sys_getegid());
	report_num(o, "fsync", sys_fsync(-1)); /* of no file: 0 where nothing is ever synced */
	machine(o);
	limit(o, "rlimit.nofile", PROBE_RLIMIT_NOFILE);
	limit(o, "rlimit.nproc", PROBE_RLIMIT_NPROC);
	if (sys_readlink("/proc/self", small, sizeof(small)) < 0) {
		report_text(o, "proc", "absent");
		return;
	}
	report_text(o, "proc", "present");
	namespaces(o);
	map(o, "uid_map", "/proc/self/uid_map");
	map(o, "gid_map", "/proc/self/gid_map");
	status(o);
	one_line(o, "boot_id", "/proc/sys/kernel/random/boot_id");
	one_line(o, "pid1", "/proc/1/comm");
	one_line(o, "oom_score_adj", "/proc/self/oom_score_adj");
	one_line(o, "label", "/proc/self/attr/current");
	interfaces(o);
	terminal(o);
	report_mounts(o);
	report_cgroup(o);
}
