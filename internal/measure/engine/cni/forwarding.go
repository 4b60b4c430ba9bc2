package cni

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/host/proc"
)

// The plug-ins bridge and ptp switch on that this machine forwards packets, and
// nobody switches it off again. So what was so before is in the ledger, and the last
// network of a run that needs it puts it back, or the sweep.

// forwardFile is what the plug-ins switch on.
const forwardFile = "/proc/sys/net/ipv4/ip_forward"

// The kernel changes more with it, in both directions: inet_forward_change in
// net/ipv4/devinet.c. Whether redirects are accepted becomes the opposite, and each
// interface forwards, or does not.
const (
	redirectsFile = "/proc/sys/net/ipv4/conf/all/accept_redirects"
	perInterface  = "/proc/sys/net/ipv4/conf/*/forwarding"
)

// settings are all that may be put back, with the only value that each may get: whoever
// could lay an entry could have anything else written by way of it.
var settings = map[string]string{forwardFile: "0", redirectsFile: "0", perInterface: "1"}

// settleLimit is how long links of ours may take to go: the kernel removes those of a
// network namespace a while after its last process has ended.
const settleLimit = 2 * time.Second

// forwardings are held by the networks of a run.
var forwardings adapter.Pool[struct{}]

// holdForwarding lets the run's plug-ins switch forwarding on, and gives what must be
// called when none of them needs it any more.
func holdForwarding(ctx context.Context, kit *engine.Kit) (release func(context.Context) error, err error) {
	return forwardings.Hold(ctx, kit.RunID, func(context.Context) (func(context.Context) error, error) {
		changes, err := noteForwarding(kit)
		if err != nil {
			return nil, fmt.Errorf("noting whether packets are forwarded: %w", err)
		}
		return func(ctx context.Context) error {
			var errs []error
			for _, t := range changes {
				_, err := PutBack(ctx, kit, t)
				if err == nil {
					err = kit.Ledger.Gone(t)
				}
				errs = append(errs, err)
			}
			return errors.Join(errs...)
		}, nil
	})
}

// noteForwarding enters into the ledger what is going to be changed; nothing where
// packets are forwarded already. What the rest follows comes first.
func noteForwarding(kit *engine.Kit) ([]engine.Thing, error) {
	if was, err := readSetting(forwardFile); err != nil || was != settings[forwardFile] {
		return nil, err
	}
	at, err := moment()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(perInterface)
	if err != nil {
		return nil, err
	}
	var changes []engine.Thing
	for _, file := range append([]string{forwardFile, redirectsFile}, files...) {
		was, err := readSetting(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if t := (engine.Thing{Kind: engine.KindSetting, Name: file, At: at, Was: was}); err == nil && settable(t) {
			if err := kit.Ledger.Made(t); err != nil {
				return nil, err
			}
			changes = append(changes, t)
		}
	}
	return changes, nil
}

func readSetting(file string) (string, error) {
	text, err := os.ReadFile(file)
	return strings.TrimSpace(string(text)), err
}

// settable says whether an entry is one of those that we make.
func settable(t engine.Thing) bool {
	for pattern, value := range settings {
		if is, err := path.Match(pattern, t.Name); err == nil && is && path.Clean(t.Name) == t.Name {
			return t.Was == value
		}
	}
	return false
}

// instant is where and when a setting was noted: the kernel's boot, the network
// namespace whose setting it is, and the last link that there was in it.
type instant struct {
	boot, namespace string
	link            int
}

const instantFormat = "boot %s %s link %d"

func moment() (string, error) {
	boot, err := proc.Here.Boot()
	if err != nil {
		return "", err
	}
	namespace, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		return "", err
	}
	links, err := net.Interfaces()
	if err != nil {
		return "", err
	}
	last := 0
	for _, l := range links {
		last = max(last, l.Index)
	}
	return fmt.Sprintf(instantFormat, boot, namespace, last), nil
}

func parseInstant(text string) (i instant, err error) {
	if _, err := fmt.Sscanf(text, instantFormat, &i.boot, &i.namespace, &i.link); err != nil {
		return i, fmt.Errorf("%q does not say where a setting was noted: %w", text, err)
	}
	return i, nil
}

// PutBack puts a setting back that a ledger names; did says that it had to be done. It
// is left as it is where somebody else has changed it or needs it by now, and in a
// network namespace or a kernel that is no more. An error says why it can't be told or
// done yet.
func PutBack(ctx context.Context, kit *engine.Kit, t engine.Thing) (did bool, err error) {
	if !settable(t) {
		return false, fmt.Errorf("%s to %q is not a setting that the run's networks change", t.Name, t.Was)
	}
	noted, err := parseInstant(t.At)
	if err != nil {
		return false, err
	}
	if boot, err := proc.Here.Boot(); err != nil || boot != noted.boot {
		return false, err
	}
	switch here, err := os.Readlink("/proc/self/ns/net"); {
	case err != nil:
		return false, err
	case here != noted.namespace && !proc.Here.HasNamespace("net", noted.namespace):
		return false, nil
	case here != noted.namespace:
		return false, fmt.Errorf("it is a setting of the network namespace %s: run plimsoll clean in it", noted.namespace)
	}
	if t.Name != forwardFile {
		// The rest follows it: while packets are forwarded each interface does so, and no
		// redirect is accepted.
		if slices.Contains(kit.Ledger.Left(), engine.Thing{Kind: t.Kind, Name: forwardFile, At: t.At, Was: settings[forwardFile]}) {
			return false, fmt.Errorf("%s comes before it", forwardFile)
		}
		if on, err := readSetting(forwardFile); err != nil || on != settings[forwardFile] {
			return false, err
		}
	}
	switch now, err := readSetting(t.Name); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil // its interface is gone
	case err != nil || now == t.Was:
		return false, err
	}
	if t.Name == forwardFile {
		links, err := neededBy(ctx, kit.RunID, noted.link)
		if err == nil && len(links) > 0 && kit.LeftOn != nil {
			kit.LeftOn(leftOn(kit, t, links))
		}
		if err != nil || len(links) > 0 {
			return false, err
		}
	}
	if err := os.WriteFile(t.Name, []byte(t.Was), 0); err != nil {
		return false, fmt.Errorf("putting a setting back: %w", err)
	}
	return true, nil
}

// leftOn says why forwarding stays switched on, and how its owner has everything as it
// was before.
func leftOn(kit *engine.Kit, t engine.Thing, links []string) string {
	back := []string{"sysctl -w"}
	for _, s := range engine.OfKind(kit.Ledger.Left(), engine.KindSetting) {
		if s.At == t.At {
			back = append(back, key(s.Name)+"="+s.Was)
		}
	}
	return fmt.Sprintf("%s, which run %s switched on: %s, made since, may need it; where nobody does: %s",
		key(t.Name), kit.RunID, strings.Join(links, ", "), strings.Join(back, " "))
}

// key is a setting's name for sysctl(8), which takes slashes where a name in it has dots.
func key(file string) string {
	name := strings.TrimPrefix(file, "/proc/sys/")
	if strings.Contains(name, ".") {
		return name
	}
	return strings.ReplaceAll(name, "/", ".")
}

// neededBy names the links that somebody has made since then and that packets may be
// forwarded for: a bridge, a tunnel, a container's that the host routes. What is
// a port of another link is not counted beside it. Another run of ours is an error,
// since that one has found forwarding switched on and will leave it so.
func neededBy(ctx context.Context, runID string, since int) (names []string, err error) {
	for wait := 10 * time.Millisecond; ; wait *= 2 {
		links, err := net.Interfaces()
		if err != nil {
			return nil, err
		}
		links = slices.DeleteFunc(links, func(l net.Interface) bool {
			_, err := os.Lstat(filepath.Join("/sys/class/net", l.Name, "master"))
			return l.Index <= since || ownLink(runID, l.Name) || err == nil
		})
		if len(links) == 0 {
			return nil, nil
		}
		if wait < settleLimit && engine.Pause(ctx, wait) {
			continue
		}
		for _, l := range links {
			if id := runOf(l.Name); id != "" {
				return nil, fmt.Errorf("the run %s needs it, which has the link %s", id, l.Name)
			}
			names = append(names, l.Name)
		}
		return names, nil
	}
}
