package portable

import "strings"

// The kinds of interfaces by which an engine is reached.
const (
	bySocket     = "Unix socket"
	byPipe       = "named pipe"
	bySSH        = "ssh"
	byTLS        = "TCP with TLS"
	byTLSUnseen  = "TCP with TLS, the server's certificate not checked"
	byPlain      = "TCP without encryption"
	byProgram    = "the command, without a service"
	onlyCompiled = "compiled and vetted, and nobody has measured so yet"
)

// Way is one way to an engine, and who has gone it.
type Way struct {
	Engine string `json:"engine"`
	By     string `json:"by"`
	// Verified says what it was measured with; "" is a way that is compiled only.
	Verified string `json:"verified_by,omitempty"`
	// Test is the script that measures so.
	Test string `json:"-"`
}

// Ways are all of them. What is verified is so on Linux alone.
var Ways = []Way{
	{Docker, bySocket, "tests against Docker's daemon on Linux, by API and command", "portable"},
	{Docker, byTLS, "tests against Docker's daemon on Linux, by API and command", "portable"},
	{Docker, bySSH, "tests against Docker's daemon on Linux, by API, with an ssh that runs Docker's own bridge here", "portable"},
	{Docker, byTLSUnseen, "tests against Docker's daemon on Linux, by API and command", "portable"},
	{Docker, byPlain, "tests against Docker's daemon on Linux, by API and command", "portable"},
	{Docker, byPipe, "", ""},
	{Podman, bySocket, "tests against Podman's service on Linux, by API and command", "portable_podman"},
	{Podman, byProgram, "tests against Podman on Linux", "portable_podman"},
	{Podman, byTLS, "tests against Podman's service on Linux, by API, with a TLS that stands before it", "portable_podman"},
	{Podman, bySSH, "tests against Podman's service on Linux, by API, with an ssh that runs Podman's own bridge here", "portable_podman"},
	{Podman, byPlain, "tests against Podman's service on Linux, by API and command", "portable_podman"},
	{Podman, byPipe, "", ""},
}

// Text says it in words.
func (w Way) Text() string {
	if w.Verified == "" {
		return "unverified: " + onlyCompiled
	}
	return "verified by " + w.Verified
}

// inMachine are words by which an engine says that it runs in a desktop's virtual
// machine, where nobody has measured it yet.
var inMachine = []string{"Docker Desktop", "Rancher Desktop"}

// judge fills in whether somebody has measured as this engine is reached, from this
// system and such a daemon.
func (f *Found) judge(system string) {
	by := f.Kind
	switch {
	case f.Reason != "" && f.Facts == nil:
		return // not reached
	case f.Reason != "":
		by = byProgram
	}
	f.Unverified = onlyCompiled
	for _, w := range Ways {
		if w.Engine == f.Engine && w.By == by && w.Verified != "" {
			f.Unverified, f.Verified = "", w.Verified
		}
	}
	not := ""
	for _, product := range inMachine {
		if strings.Contains(f.Facts["daemon-os"], product) {
			not = "nobody has measured " + product + " yet"
		}
	}
	if system != "linux" {
		not = "on " + system + " it is " + onlyCompiled
	}
	if not != "" {
		f.Verified, f.Unverified = "", not
	}
}
