#!/bin/sh
# Runs in a platform as root: what users do, and after each part what it has left. KILLS is how many
# runs are killed; with DEEP what takes longer is done, too.
out=/platform/out
part() { echo "== $(cut -d' ' -f1 /proc/uptime) $*" | tee /dev/console; }
# did NAME COMMAND...: what it prints, and its status
did() {
	what=$1
	shift
	"$@" >"$out/$what.out" 2>"$out/$what.err"
	echo $? >"$out/$what.status"
}
# state NAME: what a run may leave, as text. Slices of systemd's own stay once they were needed,
# and Podman's proxy of DHCP ends when it likes, as Docker's network namespaces do.
state() {
	{
		systemctl list-units --all --plain --no-legend --full --type=service,socket,scope,slice,mount | awk '{print "unit", $1, $2, $3, $4}' |
			grep -vE ' (machine|user|system|app)\.slice | session-|netavark-dhcp-proxy| systemd-| user@| run-|modprobe@|init.scope'
		su -l alice -c 'XDG_RUNTIME_DIR=/run/user/1000 systemctl --user list-units --all --plain --no-legend --full --type=service,scope,slice' |
			awk '{print "alice", $1, $2, $3, $4}' | grep -E 'plimsoll|docker|libpod|run-'
		find /sys/fs/cgroup -type d -name '*plimsoll*' -printf 'cgroup %p\n'
		find /var/lib /run /home/alice/.local -maxdepth 3 -name '*plimsoll*' ! -path '*/plimsoll/images*' ! -path '/run/plimsoll*' ! -path '/run/user/1000/plimsoll*' ! -path '/var/lib/plimsoll*' ! -path '*/state/plimsoll*' -printf 'file %p\n'
		awk '{print "mount", $4, $5}' /proc/self/mountinfo
		ip -o link | awk '{print "link", $2}'
		ip -o route | grep -v 'proto dhcp' | sed 's/^/route /'
		ip rule | sed 's/^/rule /'
		find /run/netns /run/user/1000/netns -type f -printf 'netns %p\n'
		sysctl -a | grep -E '^(kernel|fs|vm|user|net\.(bridge|netfilter|ipv4\.(ip_|ping|conf\.(all|default))))' |
			grep -vE 'random|last_pid|-nr|pty|inode-state|dentry|count|next_id|quota|sched_domain|hung_task|numa' | sed 's/^/sysctl /'
		find /tmp /var/tmp /dev/shm -maxdepth 2 -name '*plimsoll*' ! -path '*/plimsoll-test-images-*' -printf 'file %p\n'
		find /sys/kernel/tracing/instances -mindepth 1 -maxdepth 1 -printf 'tracing %p\n'
		cat /sys/kernel/tracing/kprobe_events /sys/kernel/tracing/uprobe_events | sed 's/^/tracing /'
		losetup -an | sed 's/^/loop /'
		pgrep -af plimsoll | sed 's/^[0-9]* /process /'
		lxc-ls -1 | sed 's/^/lxc /'
		machinectl list --no-legend | sed 's/^/machine /'
		nft list ruleset | sed 's/counter packets [0-9]* bytes [0-9]*//; s/^/nft /'
		sed 's/^/profile /' /sys/kernel/security/apparmor/profiles
		docker ps -aq | sed 's/^/docker /'
		podman ps -aq --external | sed 's/^/podman /'
		for kind in image volume network; do
			docker $kind ls -q | sed "s/^/docker $kind /"
			podman $kind ls -q | sed "s/^/podman $kind /"
		done
		# Asking Podman itself would start what stays.
		jq -r '.[] | "alice \(.names)"' /home/alice/.local/share/containers/storage/*-containers/containers.json /home/alice/.local/share/containers/storage/*-images/images.json
		for n in $(ctr namespaces ls -q); do
			echo "containerd $n"
			for kind in containers tasks images snapshots leases; do ctr -n "$n" $kind ls | sed "1d; s/ .*//; s/^/containerd $n $kind /"; done
		done
	} 2>/dev/null | sort >"$out/state-$1"
}
# ended waits for the Podmans that a killed run has left to their own end, and for systemd, which
# notices later that their mount is gone.
ended() {
	tries=0
	while pgrep -x podman >/dev/null && [ $tries -lt 60 ]; do
		tries=$((tries + 1))
		sleep 1
	done
	sleep 2
}
cp plimsoll /usr/bin/
mkdir /study
cp ./*.yaml /study
cd /study || exit 1
su -l alice -c 'cp /study/* .'
if [ "$LEVEL" = quick ]; then
	. /platform/in/quick.sh
	exit
fi
# Each engine once, so that what engines make for themselves is there.
did warm plimsoll run --wait --force --progress none platform.yaml -o /study/warm
did cleaned-0 plimsoll clean
state before
part engines
did engines plimsoll engines --format json
did doctor plimsoll doctor --format json
for unit in lxd incus; do systemctl is-active $unit.service; done >"$out/idle"
part root
did root plimsoll run --wait --force --progress none platform.yaml -o "$out/root-record"
state root
part private
did private env SUDO_USER=alice plimsoll run --wait --force --progress none private.yaml -o "$out/private-record"
did cleaned-1 plimsoll clean
state private
part density
did density plimsoll run --wait --force --progress none density.yaml -o "$out/density-record"
state density
part alice
did alice-engines su -l alice -c 'plimsoll engines --format json'
did alice su -l alice -c 'plimsoll run --wait --force --progress none platform.yaml -o record'
did cleaned-2 su -l alice -c 'plimsoll clean'
cp -r /home/alice/record "$out/alice-record"
state alice
part sudo
did sudo su -l alice -c 'sudo plimsoll run --wait --force --progress none --engine podman,bubblewrap platform.yaml -o by-sudo'
did cleaned-3 su -l alice -c 'sudo plimsoll clean'
cp -r /home/alice/by-sudo "$out/sudo-record"
state sudo
part explain
did explain plimsoll explain --wait --progress none --starts 3 oci runtime=crun
state explain
if [ -n "$DEEP" ]; then
	part deep
	for engine in docker podman; do did explain-$engine plimsoll explain --wait --progress none --starts 2 $engine network=none; done
	state explain-deep
	did selftest plimsoll selftest --wait --progress none --blocks 20
	state selftest
	did features plimsoll features --wait --progress none --format json docker podman
	state features
	did ablate plimsoll ablate --wait --force --progress none --blocks 3 --mechanism masked-paths --record "$out/ablate-record" oci runtime=crun
	state ablate
	part quick
	did quick plimsoll run --wait --force --progress none --blocks 2 quick -o "$out/quick-record"
	state quick
	did quick-alice su -l alice -c 'plimsoll run --wait --force --progress none --blocks 2 quick -o quick'
	cp -r /home/alice/quick "$out/quick-alice-record"
	state quick-alice
	part conformance
	# Which configuration of an engine goes through everything.
	for which in oci:TestCrun docker:TestConformance/api podman:TestConformance/rootful containerd:TestConformance/runc; do
		name=${which%%:*} test=${which#*:}
		did "conformance-$name" env SUDO_USER=alice "/platform/in/$name.test" -test.v -test.timeout=40m -test.parallel=1 "-test.run=^$(echo "$test" | sed 's:/:$/^:')\$"
		state "conformance-$name"
	done
fi
n=0
while [ $n -lt "${KILLS:-3}" ]; do
	part kill $n
	SUDO_USER=alice plimsoll run --wait --force --progress none killed.yaml -o /study/killed-$n >/dev/null 2>&1 &
	pid=$!
	sleep $((6 + n * 7 % 31))
	kill -9 $pid
	wait $pid
	did clean-$n plimsoll clean
	ended
	state killed-$n
	n=$((n + 1))
done
# A machine that forbids user namespaces: to ordinary users, then to everybody.
for setting in kernel.unprivileged_userns_clone user.max_user_namespaces; do
	name=forbidden-${setting##*.}
	part "$name"
	old=$(sysctl -n $setting)
	did "$name-set" sysctl -w $setting=0
	did "$name-engines" env SUDO_USER=alice plimsoll engines --format json
	did "$name-root" env SUDO_USER=alice plimsoll run --wait --force --progress none forbidden.yaml -o "$out/$name-root-record"
	did "cleaned-$name" env SUDO_USER=alice plimsoll clean
	did "$name-alice-engines" su -l alice -c 'plimsoll engines --format json'
	did "$name-alice" su -l alice -c "plimsoll run --wait --force --progress none forbidden.yaml -o $name"
	did "cleaned-$name-alice" su -l alice -c 'plimsoll clean'
	cp -r "/home/alice/$name" "$out/$name-alice-record"
	sysctl -qw "$setting=$old"
	state "$name"
done
# A firewall that drops what is not allowed. What it adds itself is there before.
part walled
did firewall ufw --force enable
state walled-before
did walled plimsoll run --wait --force --progress none walled.yaml -o "$out/walled-record"
did cleaned-4 plimsoll clean
state walled-after
part end
