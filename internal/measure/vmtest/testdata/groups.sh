# Another machine with version 2 alone: as a user, and below the root of a cgroup namespace.
. /common.sh
mount -t cgroup2 none /sys/fs/cgroup

# What systemd does for a user: a group of his own, with processes in leaves only.
g=/sys/fs/cgroup/user
mkdir -p $g/leaf
echo "+cpu +memory +pids" >/sys/fs/cgroup/cgroup.subtree_control
chown user $g $g/cgroup.procs $g/cgroup.subtree_control $g/leaf $g/leaf/cgroup.procs
mkdir -p /home/user/record
chown -R user /home/user
in_group() {
	local group=$1
	shift
	(echo 0 >$group/cgroup.procs && exec "$@")
}
did rootless in_group $g/leaf su user -c "exec plimsoll run /rootless.yaml -o /home/user/record/run --force --progress plain"
cp -r /home/user/record/run /out/rootless-record
state user

# What a container with a cgroup namespace of its own finds: its root is not
# the true one, and processes are in it. Then with what Plimsoll advises.
in_box() {
	mkdir /sys/fs/cgroup/$1
	did $1 in_group /sys/fs/cgroup/$1 /usr/bin/unshare -C -m sh -c \
		"umount -l /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup && $2 exec plimsoll run /box.yaml -o /out/$1-record --force --progress plain"
}
in_box box
in_box mended 'mkdir -p /sys/fs/cgroup/init && for p in $(cat /sys/fs/cgroup/cgroup.procs); do echo $p > /sys/fs/cgroup/init/cgroup.procs; done;'

# favordynmods goes on and off with the trials. When the run that had it is killed, its guard
# puts it off, and where that is killed too, clean does.
favoured() { grep -o favordynmods /proc/mounts >/out/favoured-$1; }
keep() {
	plimsoll run /kept.yaml -o /out/kept-$1 --force --progress plain >/out/kept.err 2>&1 &
	kept=$!
	# It is stopped, since the trials of others turn the option off.
	while kill -0 $kept; do
		sleep 0.1
		kill -STOP $kept
		grep -q favordynmods /proc/mounts && break
		kill -CONT $kept
	done
	favoured kept-$1
}
did option plimsoll run /option.yaml -o /out/option-record --force --progress plain
favoured after
keep one
kill -9 $kept
wait $kept
for i in $(seq 100); do grep -q favordynmods /proc/mounts || break; sleep 0.1; done
favoured killed
keep two
for p in /proc/[0-9]*; do [ "$(cat $p/comm)" != plimsoll-guard ] || kill -9 ${p#/proc/}; done
kill -9 $kept
wait $kept
favoured unguarded
did cleaned plimsoll clean --wait
favoured cleaned
the_end
