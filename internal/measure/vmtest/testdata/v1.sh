# A machine with version 1 alone, and then with both.
. /common.sh
mount -t tmpfs none /sys/fs/cgroup
for c in cpu cpuacct cpuset memory devices freezer blkio pids; do
	mkdir /sys/fs/cgroup/$c
	mount -t cgroup -o $c none /sys/fs/cgroup/$c || rmdir /sys/fs/cgroup/$c
done
mkdir /sys/fs/cgroup/systemd
mount -t cgroup -o none,name=systemd none /sys/fs/cgroup/systemd
state before
did doctor plimsoll doctor --format json
did run plimsoll run /v1.yaml -o /out/record --force --progress plain
state after
mkdir /sys/fs/cgroup/unified
mount -t cgroup2 none /sys/fs/cgroup/unified
did hybrid plimsoll doctor --format json
did engines plimsoll engines --format json
the_end
