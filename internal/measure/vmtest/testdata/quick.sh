# Sourced by platform.sh, in its place, on a platform for every run of the tests: a part of what it does.
part warm
did warm plimsoll run --wait --force --progress none quick.yaml -o /study/warm
did warm-alice su -l alice -c 'plimsoll run --wait --force --progress none quick.yaml -o warm'
did cleaned-0 plimsoll clean
state before
part engines
did engines plimsoll engines --format json
did doctor plimsoll doctor --format json
for unit in lxd incus; do systemctl is-active $unit.service; done >"$out/idle"
systemctl is-active incus.socket >"$out/listens"
part root
did root plimsoll run --wait --force --progress none quick.yaml -o "$out/root-record"
state root
part alice
did alice-engines su -l alice -c 'plimsoll engines --format json'
did alice su -l alice -c 'plimsoll run --wait --force --progress none quick.yaml -o record'
did cleaned-1 su -l alice -c 'plimsoll clean'
cp -r /home/alice/record "$out/alice-record"
state alice
part kill
SUDO_USER=alice plimsoll run --wait --force --progress none killed.yaml -o /study/killed >"$out/killed.out" 2>"$out/killed.err" &
pid=$!
# When every environment is open, and trials run.
until [ -s /study/killed/trials.jsonl ] || ! kill -0 $pid; do sleep 0.2; done
sleep 1
kill -9 $pid
wait $pid
echo $? >"$out/killed.status"
part clean
did cleaned-2 env SUDO_USER=alice plimsoll clean
ended
state killed
part end
