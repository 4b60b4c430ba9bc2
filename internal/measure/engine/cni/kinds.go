package cni

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// The plug-ins that can make a container's interface.
const (
	Bridge  = "bridge"  // a pair of interfaces, one end on a bridge of the run's
	PTP     = "ptp"     // a pair of interfaces, one end on the host, which routes
	Macvlan = "macvlan" // an interface with an address of its own on another one's link
	Ipvlan  = "ipvlan"  // an interface that shares the other one's link address
)

// Kinds lists them.
func Kinds() []string { return []string{Bridge, PTP, Macvlan, Ipvlan} }

// suffixes tell the links of a run's networks apart; ptp has none that is the
// network's.
var suffixes = map[string]string{Bridge: "", Macvlan: "m", Ipvlan: "i"}

// linkOf is the link of our own that a run's network hangs on: for bridge the
// plug-in makes it, for the other two we do. A bridge without ports serves as
// their parent, since it is there on every kernel that has containers' networks,
// and leads nowhere: no address of the user's network is ever used.
func linkOf(runID, kind string) string {
	if suffix, ok := suffixes[kind]; ok {
		return bridgePrefix + runID + suffix
	}
	return ""
}

// ownLink says that a run has a link of this name.
func ownLink(runID, name string) bool {
	for kind := range suffixes {
		if linkOf(runID, kind) == name {
			return true
		}
	}
	return false
}

// runOf gives the id of the run that has a link of this name; "" where none has.
func runOf(name string) string {
	rest, ours := strings.CutPrefix(name, bridgePrefix)
	if id := rest[:min(len(rest), 8)]; ours && record.IsRunID(id) && ownLink(id, name) {
		return id
	}
	return ""
}

// routes says whether a kind of network has the host forward packets.
func routes(kind string) bool { return kind == Bridge || kind == PTP }

// config is what the plug-in is told, beside where addresses come from.
func config(kind, link string) map[string]any {
	switch kind {
	case Bridge:
		return map[string]any{"bridge": link, "isGateway": true, "ipMasq": false}
	case PTP:
		return map[string]any{"ipMasq": false}
	case Macvlan:
		return map[string]any{"master": link, "mode": "bridge"}
	}
	return map[string]any{"master": link, "mode": "l2"}
}

// parent makes the link that an interface of kind hangs on, where the plug-in
// does not.
func parent(kind, link string) error {
	if kind != Macvlan && kind != Ipvlan {
		return nil
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := addBridge(fd, link); err != nil {
		return fmt.Errorf("making %s, the parent of %s: %w", link, kind, err)
	}
	return setUp(fd, link, true)
}

// taken says that somebody has a link of the name that ours is to have, which
// would be removed with the network.
func taken(link string) error {
	if _, err := os.Lstat("/sys/class/net/" + link); link == "" || err != nil {
		return nil
	}
	return &engine.Error{Class: record.Unavailable, Text: "there is an interface " + link + ", which this run has not made"}
}

// offers says why the plug-in of a kind can't be called.
func offers(dir, kind string) error {
	if info, err := os.Stat(filepath.Join(dir, kind)); err != nil || info.Mode()&0o111 == 0 {
		return &engine.Error{Class: record.Unavailable, Fix: "apt-get install containernetworking-plugins",
			Text: fmt.Sprintf("the CNI plug-in %s is not in %s", kind, dir)}
	}
	return nil
}

// Try attaches a namespace and lets go of it, so that what this kernel or the
// plug-in can't do is known before anything is measured.
func (n *Network) Try(ctx context.Context) error {
	if n.kind == Bridge {
		return nil // every engine's network is one, and its first container tells
	}
	a, err := n.Attach(ctx, "plimsoll-"+n.kit.RunID+"-try")
	if err == nil {
		err = a.Detach(ctx)
	}
	if err != nil {
		return &engine.Error{Class: record.Unavailable, Text: "no network " + n.kind + " can be made here", Err: err}
	}
	return nil
}
