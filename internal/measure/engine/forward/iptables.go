package forward

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
)

// callLimit bounds one call of a program of the packet filter. It takes
// milliseconds, unless others hold the filter's lock, which is waited for.
const (
	callLimit = 15 * time.Second
	lockWait  = "5" // seconds
)

// legacyTables are the tables of iptables' older backend that exist. To ask its
// program for one that does not would make it.
const legacyTables = "/proc/net/ip_tables_names"

// iptables is one of the two backends of iptables: what one accepts the other
// may still drop.
type iptables struct{ path, backend string }

// backends are those that are in force, with the program of each.
func backends(ctx context.Context, kit *engine.Kit) []iptables {
	var found []iptables
	for _, name := range []string{"iptables", "iptables-nft", "iptables-legacy"} {
		path := lookPath(kit, name)
		if path == "" {
			continue
		}
		version, err := call(ctx, nil, path, "-V")
		if err != nil {
			continue // without the kernel's or its library's help it is of no use
		}
		p := iptables{path, "legacy"}
		if bytes.Contains(version, []byte("nf_tables")) {
			p.backend = "nft"
		}
		if p.backend == "legacy" && !hasLegacy() || p.backend == "nft" && p.foreign(ctx, kit) || slices.ContainsFunc(found, func(o iptables) bool { return o.backend == p.backend }) {
			continue
		}
		found = append(found, p)
	}
	return found
}

// foreign says whether the chain that iptables would use was made by nft in a way
// that it can't handle. Then nft is asked for it.
func (p iptables) foreign(ctx context.Context, kit *engine.Kit) bool {
	if lookPath(kit, "nft") == "" {
		return false // whoever asks iptables will be told
	}
	// Versions differ in whether that is an error; all use this word.
	text, err := p.call(ctx, "-S", "FORWARD")
	return err != nil || bytes.Contains(text, []byte("incompatible"))
}

func hasLegacy() bool {
	text, err := os.ReadFile(legacyTables)
	return err == nil && slices.Contains(strings.Fields(string(text)), "filter")
}

// lookPath finds a program that an ordinary user's PATH lacks; "" if there is none.
func lookPath(kit *engine.Kit, name string) string {
	if path, err := kit.LookPath(name); err == nil {
		return path
	}
	for _, dir := range []string{"/usr/sbin", "/sbin"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// call runs a program of the packet filter and gives what it says.
func call(ctx context.Context, stdin []byte, argv ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	out, err := child.Run(ctx, child.Command{Argv: argv, Env: append(os.Environ(), adapter.Path, "LC_ALL=C"), Stdin: bytes.NewReader(stdin)})
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, adapter.Words(out.Stderr))
	}
	return out.Stdout, nil
}

func (p iptables) String() string { return "iptables-" + p.backend }

func (p iptables) call(ctx context.Context, args ...string) ([]byte, error) {
	return call(ctx, nil, append([]string{p.path, "-w", lockWait}, args...)...)
}

// mayDrop says whether anything in FORWARD could: its policy, or a rule.
func (p iptables) mayDrop(ctx context.Context) (bool, error) {
	text, err := p.call(ctx, "-S", "FORWARD")
	return strings.TrimSpace(string(text)) != "-P FORWARD ACCEPT", err
}

// rule is ours for a bridge or a network, as iptables takes it.
func rule(bridge, mark string) []string {
	return append(packets(bridge), "-m", "comment", "--comment", mark, "-j", "ACCEPT")
}

func (p iptables) insert(ctx context.Context, bridge, mark string) error {
	_, err := p.call(ctx, append([]string{"-I", "FORWARD"}, rule(bridge, mark)...)...)
	return err
}

// has says whether the rule is there: word by word what insert makes, so that
// it is nobody else's.
func (p iptables) has(ctx context.Context, bridge, mark string) (bool, error) {
	text, err := p.call(ctx, "-S", "FORWARD")
	if err != nil {
		return false, err
	}
	want := regexp.MustCompile(`(?m)^-A FORWARD ` + regexp.QuoteMeta(strings.Join(packets(bridge), " ")) +
		` -m comment --comment "?` + regexp.QuoteMeta(mark) + `"? -j ACCEPT$`) // some versions quote every comment
	return want.Match(text), nil
}

// remove takes the rule away, however often it is there.
func (p iptables) remove(ctx context.Context, bridge, mark string) error {
	for {
		there, err := p.has(ctx, bridge, mark)
		if err != nil || !there {
			return err
		}
		if _, err := p.call(ctx, append([]string{"-D", "FORWARD"}, rule(bridge, mark)...)...); err != nil {
			return err
		}
	}
}
