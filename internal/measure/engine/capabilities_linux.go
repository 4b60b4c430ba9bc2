package engine

import (
	"slices"

	"github.com/containerd/containerd/v2/pkg/cap"
)

// OwnCapabilities are those that this process may give, of KnownCapabilities: what
// a container without the mechanism Capabilities has. An engine's word for all of
// them is refused where the machine's root has not all.
func OwnCapabilities() []string {
	own, err := cap.Current()
	if err != nil {
		return nil // the proof says that they were dropped
	}
	return slices.DeleteFunc(own, func(c string) bool {
		return c == "CAP_PERFMON" || c == "CAP_BPF" || c == "CAP_CHECKPOINT_RESTORE"
	})
}
