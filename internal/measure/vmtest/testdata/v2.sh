# A machine with version 2 alone, and no manager of control groups: the first
# process is in the root's own group.
. /common.sh
mount -t cgroup2 none /sys/fs/cgroup
dockerd --iptables=false --bridge=none --storage-driver overlay2 >/out/dockerd.log 2>&1 &
docker=$!
wait_for /var/run/docker.sock $docker
# It listens there before it has begun its own containerd, which is no residue.
wait_for /var/run/docker/containerd/containerd.sock $docker
state before
did doctor plimsoll doctor --format json
did engines plimsoll engines --format json
did wrap /tests/wrap.test -test.v -test.run Group
did run plimsoll run /study.yaml -o /out/record --force --progress plain
state after

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
the_end
