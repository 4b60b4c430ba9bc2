package run

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/record"
)

// What is a limit stays a limit, whatever its number looks like, and what is an
// identifier in a path goes, whatever it is made of.
func TestAnonymousPaths(t *testing.T) {
	const hex = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for in, want := range map[string]string{
		"9223372036854771712":                    "9223372036854771712",
		"107374182400":                           "107374182400", // 100 GiB
		"1099511627776":                          "1099511627776",
		"100000 100000":                          "100000 100000",
		"max 100000":                             "max 100000",
		"1048576:1048576":                        "1048576:1048576",
		"000001fffeffffff":                       "000001fffeffffff", // a set of capabilities
		"0000000000000000":                       "0000000000000000",
		"/":                                      "/",
		"/system.slice":                          "/system.slice",
		"/docker/" + hex:                         "/docker/*",
		"/docker/" + hex[:12]:                    "/docker/*",
		"/docker/012345678901":                   "/docker/*", // a short identifier that has no letter
		"/plimsoll-abcd1234-7-x":                 "/*",
		"/lxc.payload.plimsoll-abcd1234-7":       "/lxc.payload.*",
		"/system.slice/docker-" + hex + ".scope": "/system.slice/docker-*.scope",
		"/machine.slice/libpod-" + hex + ".scope/container":                                      "/machine.slice/libpod-*.scope/container",
		"/kubepods.slice/kubepods-burstable.slice/cri-containerd-" + hex + ".scope":              "/kubepods.slice/kubepods-burstable.slice/cri-containerd-*.scope",
		"/kubepods/burstable/pod0f3c1a2b-1111-2222-3333-0123456789ab/x":                          "/kubepods/burstable/pod*/x",
		"/kubepods-pod0F3C1A2B_1111_2222_3333_0123456789AB.slice":                                "/kubepods-pod*.slice",
		"/sys/fs/cgroup/memory/docker/" + hex + "/memory.limit_in_bytes":                         "/sys/fs/cgroup/memory/docker/*/memory.limit_in_bytes",
		"/run-r8f3kq2z7m1x9c4v5.scope":                                                           "/run-*.scope",
		"/user.slice/user-1000.slice/user@1000.service/app.slice/app-org.gnome.Terminal.slice/x": "/user.slice/user-1000.slice/user@1000.service/app.slice/app-org.gnome.Terminal.slice/x",
	} {
		if got := newPaths("abcd1234").anonymous("e", "k", in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// Two trials of an environment have one path where they differ in their
// identifiers alone, and two where they differ in more.
func TestPathsOfTwoTrials(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"/plimsoll-abcd1234-sarus/container-qwertzuiopasdfgh", "/plimsoll-abcd1234-sarus/container-yxcvbnmlkjhgfdsa", true},
		{"/x/mfrggzdfmztwq2lk", "/x/nbswy3dpeb3w64tm", true}, // base32
		{"/x/k3jx9q", "/x/0zp41a", true},                     // base36
		{"/apptainer/4711", "/apptainer/815", true},          // processes
		{"/system.slice/a.scope", "/user.slice/a.scope", false},
		{"/docker/x", "/podman/x", false},
		{"/kubepods/besteffort", "/kubepods/guaranteed", false},
		{"/x", "/x/y", false},
		{"/", "/x", false},
		{"/x-abcdefgh", "/x_hgfedcba", false},
	} {
		p := newPaths("abcd1234")
		p.anonymous("e", "cgroup.memory", c.a) // as the container that proves the environment
		first, second := p.anonymous("e", "cgroup.memory", c.b), p.anonymous("e", "cgroup.memory", c.a)
		if (first == second) != c.same {
			t.Errorf("%s and %s: %s and %s", c.a, c.b, first, second)
		}
		other := newPaths("abcd1234")
		other.anonymous("e", "cgroup.memory", c.a)
		if got := other.anonymous("another", "cgroup.memory", c.a); got == first && c.same {
			t.Errorf("what one environment has taught holds for another: %s", got)
		}
	}
}

// makes are the ways in which engines make identifiers.
var makes = map[string]func(*rand.Rand) string{
	"hex 64":     func(r *rand.Rand) string { return pick(r, "0123456789abcdef", 64) },
	"hex 12":     func(r *rand.Rand) string { return pick(r, "0123456789abcdef", 12) },
	"digits":     func(r *rand.Rand) string { return fmt.Sprint(1 + r.IntN(4_000_000)) },
	"letters 16": func(r *rand.Rand) string { return pick(r, "abcdefghijklmnopqrstuvwxyz", 16) },
	"base32":     func(r *rand.Rand) string { return pick(r, "abcdefghijklmnopqrstuvwxyz234567", 26) },
	"base36":     func(r *rand.Rand) string { return "k9" + pick(r, "0123456789abcdefghijklmnopqrstuvwxyz", 10) },
	"mixed": func(r *rand.Rand) string {
		return pick(r, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 22)
	},
	"uuid": func(r *rand.Rand) string {
		h := pick(r, "0123456789abcdef", 32)
		return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
	},
}

func pick(r *rand.Rand, from string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = from[r.IntN(len(from))]
	}
	return string(b)
}

// Whatever make of identifier an engine has, and wherever in a path it stands,
// all trials of an environment have one inside, whose limits are untouched.
func TestOneInsideForAllTrials(t *testing.T) {
	r := rand.New(rand.NewPCG(20261122, 7))
	kinds := make([]string, 0, len(makes))
	for kind := range makes {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	shapes := 500
	if testing.Short() {
		shapes = 50
	}
	for range shapes {
		kind := kinds[r.IntN(len(kinds))]
		shape := []string{"/ID", "/engine/ID", "/system.slice/engine-ID.scope", "/plimsoll-abcd1234-e/container-ID", "/pods/podID/ID", "/ID/init"}[r.IntN(6)]
		limit := fmt.Sprint(r.Int64N(1 << 62))
		i := &insider{paths: newPaths("abcd1234"), host: map[string]string{}}
		trial := func() record.Inside {
			path := shape
			for strings.Contains(path, "ID") {
				path = strings.Replace(path, "ID", makes[kind](r), 1)
			}
			return i.read("e", map[string]string{"cgroup.memory": path, "limit.memory.limit_in_bytes": limit,
				"limit.memory.limit_in_bytes.at": "/sys/fs/cgroup/memory" + path + "/memory.limit_in_bytes"})
		}
		trial() // the one by which the environment is proved
		seen := map[string]bool{}
		for range 30 {
			in := trial()
			seen[fmt.Sprint(in)] = true
			if in.More["limit.memory.limit_in_bytes"] != limit {
				t.Fatalf("the limit %s became %s", limit, in.More["limit.memory.limit_in_bytes"])
			}
		}
		if len(seen) != 1 {
			t.Errorf("%s in %s: %d insides in 30 trials: %v", kind, shape, len(seen), seen)
		}
	}
}
