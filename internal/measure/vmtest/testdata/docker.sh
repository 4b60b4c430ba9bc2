# A machine with a Docker daemon that is reached by TCP with TLS alone, and is measured
# from outside. Its second serial line says when to go on.
. /common.sh
mount -t cgroup2 none /sys/fs/cgroup
hostname far
ip addr add 10.0.2.15/24 dev eth0
ip link set eth0 up
exec 3</dev/ttyS1
dockerd --iptables=false --ip6tables=false --bridge=none --storage-driver overlay2 --host tcp://10.0.2.15:2376 \
	--tlsverify --tlscacert /tls/ca.pem --tlscert /tls/cert.pem --tlskey /tls/key.pem >/out/dockerd.log 2>&1 3<&- &
echo "the daemon is started"
read -r word <&3 # it answers
state before
echo "what is there is noted"
read -r word <&3 # it has been measured
state after
the_end
