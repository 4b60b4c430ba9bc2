//go:build linux

package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

// errNone is the error of Start where no browser can be used.
var errNone = errors.New("no Chromium")

// patience is how long one thing done to a page may take.
const patience = 30 * time.Second

// Browser is one running Chromium with a profile of its own.
type Browser struct {
	ctx     context.Context
	cancel  context.CancelFunc
	profile string
}

// find gives the path of a Chromium that can read files anywhere. Ubuntu's, a
// snap, sees neither /tmp nor another process's pipes.
func find() (string, error) {
	var snap bool
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chromium-headless-shell"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		if strings.HasPrefix(path, "/snap/") || filepath.Base(real) == "snap" || wrapsSnap(real) {
			snap = true
			continue
		}
		return path, nil
	}
	if snap {
		return "", fmt.Errorf("%w: the one here is a snap, which can't read a report under /tmp; install Chrome from its maker's package", errNone)
	}
	return "", fmt.Errorf("%w on PATH: install it by lab/setup test, or on Debian by apt-get install chromium", errNone)
}

// wrapsSnap says whether a program is Ubuntu's script that starts the snap.
func wrapsSnap(path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.Size() > 16<<10 {
		return false
	}
	text, err := os.ReadFile(path)
	return err == nil && strings.Contains(string(text), "/snap/bin/")
}

// Start starts Chromium with an empty profile, which Close removes. It tries
// nothing of its own on the network.
func Start(ctx context.Context) (*Browser, error) {
	path, err := find()
	if err != nil {
		return nil, err
	}
	profile, err := os.MkdirTemp("", "plimsoll-browser-")
	if err != nil {
		return nil, fmt.Errorf("making a profile: %w", err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.UserDataDir(profile),
		chromedp.Env("TMPDIR="+profile), // where it leaves a socket when it is ended
		chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-domain-reliability", true),
		chromedp.Flag("no-pings", true),
		chromedp.Flag("force-device-scale-factor", "1"),
		chromedp.Flag("lang", "en-US"),
		// Whatever slips through finds no address.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE [::1]"),
	)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	alloc, stop := chromedp.NewExecAllocator(ctx, options...)
	tab, cancel := chromedp.NewContext(alloc, chromedp.WithErrorf(func(string, ...any) {}))
	b := &Browser{ctx: tab, profile: profile, cancel: func() { cancel(); stop() }}
	if err := chromedp.Do(tab); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", path, err), b.Close())
	}
	return b, nil
}

// Close ends the browser and removes its profile.
func (b *Browser) Close() error {
	b.cancel()
	// Helper processes may write for a moment after the browser has ended.
	var err error
	for range 20 {
		if err = os.RemoveAll(b.profile); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}
