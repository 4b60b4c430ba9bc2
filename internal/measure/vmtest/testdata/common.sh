# Sourced by the scripts that are a machine's first process after its root file
# system is there.
export PATH=/usr/bin:/bin HOME=/root
exec >/dev/console 2>&1
mount -t proc none /proc
mount -t sysfs none /sys
mkdir -p /dev/pts /dev/shm
mount -t devpts none /dev/pts
mount -t tmpfs none /tmp
chmod 1777 /tmp
ip link set lo up

# state NAME: what there is before and after, to be compared from outside.
state() {
	find /sys/fs/cgroup -type d | sort >/out/cgroups-$1
	cut -d' ' -f2 /proc/mounts | sort >/out/mounts-$1
	# Without the kernel's own threads, which are children of 2. What a daemon has
	# just forked bears its name for a moment: such a one may end first.
	local n=0
	until
		ps -o pid,ppid,comm | awk '$1>2 && $2!=2 {print $3}' | grep -Ev '^(ps|awk|grep|sort)$' | sort >/out/processes-$1
		[ "$1" = before ] || [ $n = 20 ] || awk 'NR == FNR { n[$1]++; next } n[$1]-- > 0 || $1 == "sh" || $1 == "exe" { next } { left = 1 } END { exit left }' /out/processes-before /out/processes-$1
	do
		sleep 0.5
		n=$((n + 1))
	done
}

# did NAME COMMAND...: its output and status are kept.
did() {
	local name=$1
	shift
	echo "$name: $(cut -d' ' -f1 /proc/uptime) s"
	"$@" >/out/$name.out 2>/out/$name.err
	echo $? >/out/$name.status
}

# wait_for FILE PID: as long as the process that makes it lives, however slow the machine is.
wait_for() {
	until [ -e "$1" ] || ! kill -0 "$2"; do sleep 0.1; done
}

the_end() {
	echo "end: $(cut -d' ' -f1 /proc/uptime) s"
	tar -c -f /dev/vdb -C /out .
	sync
	echo "all is written"
	reboot -f
}
