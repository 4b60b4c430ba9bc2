package engine

import (
	"fmt"
	"slices"
)

// Thing is something that a run makes on the machine and takes away again. An
// entry of the run's ledger is the proof that a thing is ours: what is in none
// is never removed, whatever it is called and whatever label it bears.
type Thing struct {
	// Kind is what it is: one of the kinds below.
	Kind string `json:"kind"`
	// Name is what it is called by who holds it, exactly.
	Name string `json:"name"`
	// Engine is the adapter that takes it away; empty where the kernel holds it
	// and no engine need be asked.
	Engine string `json:"engine,omitempty"`
	// At is by what the engine was reached: its socket, endpoint or program. A
	// clean-up goes there, whatever the environment says by then.
	At string `json:"at,omitempty"`
	// As is the user whose engine it is, where that is not ourselves.
	As string `json:"as,omitempty"`
	// Was is what a setting or an owner is to be put back to.
	Was string `json:"was,omitempty"`
}

// The kinds of things.
const (
	KindContainer  = "container"
	KindImage      = "image"
	KindVolume     = "volume"
	KindNamespace  = "namespace" // of containerd's
	KindProject    = "project"   // of LXD's and Incus'
	KindPool       = "storage pool"
	KindProfile    = "profile" // of LXD's and Incus'
	KindMount      = "mount"
	KindCgroup     = "cgroup"
	KindLink       = "link"
	KindNetNS      = "netns"
	KindRule       = "rule"         // of the packet filter, for the bridge of that name, or the network
	KindSetting    = "setting"      // of the kernel, that a network of ours has changed; At is when and where
	KindOwner      = "owner change" // of /dev/null, that a runtime may change; At is when and where
	KindProcess    = "process"
	KindFile       = "file" // outside of the run's folder
	KindDaemon     = "daemon"
	KindFileSystem = "filesystem" // on a loop device
)

func (t Thing) String() string {
	s := t.Kind + " " + t.Name
	switch {
	case t.Engine == "":
		return s
	case t.As != "" && t.At != "":
		return fmt.Sprintf("%s (%s of %s at %s)", s, t.Engine, t.As, t.At)
	case t.At != "":
		return fmt.Sprintf("%s (%s at %s)", s, t.Engine, t.At)
	}
	return fmt.Sprintf("%s (%s)", s, t.Engine)
}

// Ledger keeps account of what a run makes. Made is durable when it returns,
// and comes before the thing; Gone comes when it has been taken away.
type Ledger interface {
	Made(Thing) error
	Gone(Thing) error
	// Left lists what was made and is not gone, each thing once, in the order
	// in which it was made.
	Left() []Thing
}

// Of gives the things that one engine holds.
func Of(things []Thing, engine string) []Thing {
	return slices.DeleteFunc(slices.Clone(things), func(t Thing) bool { return t.Engine != engine })
}

// OfKind gives the things of one kind.
func OfKind(things []Thing, kind string) []Thing {
	return slices.DeleteFunc(slices.Clone(things), func(t Thing) bool { return t.Kind != kind })
}
