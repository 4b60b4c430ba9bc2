/* mechanism.c: the mechanisms, each by the calls that a runtime makes for it. */
#include "mechanism.h"
#include "small.h"

/* Of linux/mount.h, which clashes with sys/mount.h's names in some distributions. */
#define MS_BIND_ 4096
#define OPEN_TREE_CLONE_ 1
#define MOVE_MOUNT_EMPTY_FROM 4
#define MOUNT_ATTR_IDMAP_ 0x100000
#define EMPTY_PATH 0x1000 /* AT_EMPTY_PATH */
#define NAMESPACE_TIME 0x80 /* CLONE_NEWTIME */
#define PR_SET_NO_NEW_PRIVS_ 38
#define SECCOMP_FILTER 1
#define RETURN_ALLOW 0x7fff0000u

static long unshare(unsigned long flags) { return SYS(unshare, flags, 0, 0, 0, 0, 0); }

#define NAMESPACE(name, flag) \
	static long name(const char **what) { \
		(void)what; \
		return unshare(flag); \
	}
NAMESPACE(mount_ns, CLONE_NEWNS)
NAMESPACE(pid_ns, CLONE_NEWPID)
NAMESPACE(ipc_ns, CLONE_NEWIPC)
NAMESPACE(uts_ns, CLONE_NEWUTS)
NAMESPACE(cgroup_ns, CLONE_NEWCGROUP)
NAMESPACE(network_ns, CLONE_NEWNET)
NAMESPACE(time_ns, NAMESPACE_TIME)
NAMESPACE(container_ns, CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET)

static long put(const char *path, const char *text) {
	long fd = sys_open(path, O_WRONLY), r;
	if (fd < 0)
		return fd;
	r = sys_write((int)fd, text, text_len(text));
	sys_close((int)fd);
	return r;
}

long mechanism_whole(int index, const char **what) {
	long fd = sys_open("/proc/self/ns/mnt", O_RDONLY);
	(void)index;
	(void)what;
	if (fd >= 0) {
		SYS(setns, fd, CLONE_NEWNS, 0, 0, 0, 0);
		sys_close((int)fd);
	}
	return 0;
}

/* 0 inside is 0 outside; who has no rights gets an error. */
static long map_root(void) {
	long r;
	if ((r = put("/proc/self/setgroups", "deny")) < 0 || (r = put("/proc/self/uid_map", "0 0 1")) < 0)
		return r;
	return put("/proc/self/gid_map", "0 0 1");
}

static long user_ns(const char **what) {
	long r = unshare(CLONE_NEWUSER);
	if (r < 0)
		return r;
	*what = "mapping the user and the group";
	return map_root();
}

static long private(const char **what) {
	*what = "making mounts private";
	return sys_mount(NULL, "/", NULL, PROBE_MS_REC | PROBE_MS_PRIVATE, NULL);
}

/* Everything is mounted over /proc, which is always there: the mounts are the
 * child's own, and the host's do not hear of them. */
static long tmpfs(const char **what) {
	*what = "mounting a tmpfs";
	return sys_mount("tmpfs", "/proc", "tmpfs", 0, NULL);
}

static long bind(const char **what) {
	*what = "binding a directory";
	return sys_mount("/", "/proc", NULL, MS_BIND_, NULL);
}

static long proc(const char **what) {
	*what = "mounting /proc";
	return sys_mount("proc", "/proc", "proc", PROBE_MS_NOSUID | PROBE_MS_NODEV | PROBE_MS_NOEXEC, NULL);
}

static long unmount(const char **what) {
	*what = "unmounting";
	return sys_umount2("/proc", 0);
}

static long private_tmpfs(const char **what) {
	long r = private(what);
	return r < 0 ? r : tmpfs(what);
}

static long layers(const char **what) {
	static const char *const dirs[] = {"/proc/lower", "/proc/upper", "/proc/work", "/proc/merged"};
	long r = private_tmpfs(what);
	*what = "making directories";
	for (usize i = 0; i < COUNT(dirs) && r >= 0; i++)
		r = sys_mkdir(dirs[i], 0755);
	return r;
}

static long overlay(const char **what) {
	*what = "mounting an overlay";
	return sys_mount("overlay", "/proc/merged", "overlay", 0,
			 "lowerdir=/proc/lower,upperdir=/proc/upper,workdir=/proc/work");
}

static long unmount_merged(const char **what) {
	*what = "unmounting";
	return sys_umount2("/proc/merged", 0);
}

/* The user namespace whose ids a mount is given; a number that the helper, with
 * which all files are shared, puts it at. */
static int ids = -1;

static int keeps_ids(void *unused) {
	(void)unused;
	long fd = map_root(), r;
	if (fd >= 0)
		fd = sys_open("/proc/self/ns/user", O_RDONLY);
	if (fd < 0)
		return 1;
	r = sys_dup3((int)fd, ids, O_CLOEXEC);
	sys_close((int)fd);
	return r < 0;
}

static long layers_and_ids(const char **what) {
	int status = 0;
	long pid, r = sys_open("/", O_RDONLY);
	*what = "making a user namespace";
	if (r < 0)
		return r;
	ids = (int)r;
	pid = spawn_call(__NR_clone, SIGCHLD | CLONE_NEWUSER | CLONE_FILES, 0, keeps_ids, NULL);
	if (pid < 0)
		return pid;
	do {
		r = sys_wait4((int)pid, &status, 0, NULL);
	} while (r == -EINTR);
	if (r < 0 || status)
		return r < 0 ? r : -EPERM;
	return layers(what);
}

static long bind_mapped(const char **what) {
	struct {
		u64 set, clear, propagation, namespace;
	} attributes = {MOUNT_ATTR_IDMAP_, 0, 0, (u64)ids};
	*what = "copying a mount";
	long r, tree = SYS(open_tree, PROBE_AT_FDCWD, "/proc/lower", OPEN_TREE_CLONE_ | O_CLOEXEC, 0, 0, 0);
	if (tree < 0)
		return tree;
	*what = "mapping its ids";
	r = SYS(mount_setattr, tree, "", EMPTY_PATH, &attributes, sizeof(attributes), 0);
	if (r >= 0) {
		*what = "mounting it";
		r = SYS(move_mount, tree, "", PROBE_AT_FDCWD, "/proc/merged", MOVE_MOUNT_EMPTY_FROM, 0);
	}
	sys_close((int)tree);
	return r;
}

/* A file of a mebibyte in the lower layer. */
static long layers_and_file(const char **what) {
	static char block[64 << 10];
	long fd, r = layers(what);
	*what = "writing a file";
	if (r < 0)
		return r;
	fd = sys_create("/proc/lower/file", O_WRONLY | O_CREAT, 0644);
	if (fd < 0)
		return fd;
	for (i64 n = 0; n < 1 << 20 && r >= 0; n += r)
		r = sys_write((int)fd, block, sizeof(block));
	sys_close((int)fd);
	return r < 0 ? r : overlay(what);
}

/* Nothing is written: who opens it to write has it copied. */
static long copy_up(const char **what) {
	*what = "opening a file of the lower layer to write";
	long fd = sys_open("/proc/merged/file", O_WRONLY);
	if (fd < 0)
		return fd;
	sys_close((int)fd);
	return 0;
}

static long root(const char **what) {
	long r = private_tmpfs(what);
	*what = "chdir to the new root";
	return r < 0 ? r : sys_chdir("/proc");
}

static long pivot(const char **what) {
	*what = "pivot_root";
	long r = sys_pivot_root(".", ".");
	if (r < 0)
		return r;
	*what = "detaching the old root";
	return sys_umount2(".", PROBE_MNT_DETACH);
}

/* A filter as long as an engine's: each instruction but the last compares the
 * call's number with one that no call has. */
static long seccomp(const char **what) {
	enum { LENGTH = 400 };
	static struct {
		u16 code;
		u8 yes, no;
		u32 k;
	} filter[LENGTH];
	struct {
		u16 len;
		void *filter;
	} program = {LENGTH, filter};
	filter[0].code = 0x20; /* load the call's number */
	for (usize i = 1; i < LENGTH - 1; i++) {
		filter[i].code = 0x15; /* jump where it is k; to the next one either way */
		filter[i].k = (u32)(100000 + i);
	}
	filter[LENGTH - 1].code = 0x06; /* return k */
	filter[LENGTH - 1].k = RETURN_ALLOW;
	*what = "no_new_privs";
	long r = SYS(prctl, PR_SET_NO_NEW_PRIVS_, 1, 0, 0, 0, 0);
	*what = "loading the filter";
	return r < 0 ? r : SYS(seccomp, SECCOMP_FILTER, 0, &program, 0, 0, 0);
}

static const struct mechanism list[] = {
	{.name = "process"},
	{.name = "mount-namespace", .make = mount_ns},
	{.name = "pid-namespace", .make = pid_ns},
	{.name = "ipc-namespace", .make = ipc_ns},
	{.name = "uts-namespace", .make = uts_ns},
	{.name = "cgroup-namespace", .make = cgroup_ns},
	{.name = "time-namespace", .make = time_ns},
	{.name = "user-namespace", .worker = mechanism_whole, .make = user_ns},
	{.name = "network-namespace", .make = network_ns},
	{.name = "all-namespaces", .make = container_ns},
	{.name = "loopback-up", .flags = CLONE_NEWNET, .prepare = net_open, .make = net_loopback_up},
	{.name = "veth", .flags = CLONE_NEWNET, .prepare = net_open, .make = net_veth_add, .undo = net_veth_delete},
	{.name = "bridge", .flags = CLONE_NEWNET, .prepare = net_open, .make = net_bridge_add, .undo = net_bridge_delete},
	{.name = "packet-filter", .flags = CLONE_NEWNET, .prepare = filter_open, .make = filter_add, .undo = filter_delete},
	{.name = "private-mounts", .flags = CLONE_NEWNS, .make = private},
	{.name = "bind-mount", .flags = CLONE_NEWNS, .prepare = private, .make = bind, .undo = unmount},
	{.name = "id-mapped-mount", .flags = CLONE_NEWNS, .worker = mechanism_whole, .prepare = layers_and_ids, .make = bind_mapped, .undo = unmount_merged},
	{.name = "tmpfs", .flags = CLONE_NEWNS, .prepare = private, .make = tmpfs, .undo = unmount},
	{.name = "proc", .flags = CLONE_NEWNS | CLONE_NEWPID, .prepare = private, .make = proc, .undo = unmount},
	{.name = "overlay", .flags = CLONE_NEWNS, .prepare = layers, .make = overlay, .undo = unmount_merged},
	{.name = "copy-up", .flags = CLONE_NEWNS, .prepare = layers_and_file, .make = copy_up, .undo = unmount_merged},
	{.name = "pivot-root", .flags = CLONE_NEWNS, .prepare = root, .make = pivot},
	{.name = "seccomp", .make = seccomp},
	{.name = "control-group", .worker = group_find, .make = group_make, .undo = group_undo, .over = group_over},
	{.name = "control-group-reused", .worker = group_reuse, .make = group_enter, .undo = group_leave, .over = group_over},
};

const struct mechanism *mechanism_of(const char *name) {
	for (usize i = 0; i < COUNT(list); i++)
		if (text_eq(list[i].name, name))
			return &list[i];
	return NULL;
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
