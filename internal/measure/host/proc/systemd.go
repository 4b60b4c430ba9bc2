package proc

import "os"

// SystemdRuns says whether systemd is this machine's init. Source: sd_booted(3).
func SystemdRuns() bool {
	st, err := os.Lstat("/run/systemd/system")
	return err == nil && st.IsDir()
}
