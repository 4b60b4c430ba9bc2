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
did cgroup /tests/cgroup.test -test.v -test.run Group
did run plimsoll run /study.yaml -o /out/record --force --progress plain
state after
the_end
