package fleet

import (
	"fmt"
	"os"
	"strings"

	"plimsoll/internal/measure/host/proc"
)

// whereName is the file that tells on which host the run is: several may have one home,
// on which the lock of the run's process need not be seen from another.
const whereName = "host"

// thisHost tells this host by its name and by its kernel's boot.
func thisHost() (name, boot string) {
	name, _ = os.Hostname()    // without one it has none
	boot, _ = proc.Here.Boot() // it is always there
	return name, boot
}

// settle writes down that the run is on this host.
func (h *Here) settle() error {
	name, boot := thisHost()
	return os.WriteFile(h.path(whereName), []byte(boot+"\n"+name+"\n"), 0o600)
}

// Elsewhere is the host that the run is on, where that is another one than this; else "".
// A host that was started again has its name, and one that was renamed the boot.
func (h *Here) Elsewhere() string {
	text, err := h.text(whereName)
	if err != nil {
		return ""
	}
	boot, name, _ := strings.Cut(text, "\n")
	if here, now := thisHost(); boot == now || name == here {
		return ""
	}
	return name
}

// OnThisHost refuses a run that is on another host.
func (h *Here) OnThisHost() error {
	other := h.Elsewhere()
	if other == "" {
		return nil
	}
	name, _ := thisHost()
	return fmt.Errorf("the run is on the host %s, and this is %s, which has the same folder: name that host itself", other, name)
}
