//go:build linux

package browsertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Options say how a page is opened. The zero value is a desk's window in light
// colours.
type Options struct {
	Width, Height int     // of the window, CSS pixels; 0 is 1280 × 900
	Scale         float64 // device pixels to a CSS pixel; 0 is 1
	Phone         bool    // touch, and a phone's idea of a viewport
	Dark          bool    // prefers-color-scheme
	NoScript      bool    // the page's scripts don't run
	Before        string  // a script that runs before the page's own
}

// Phone is a window of 390 × 844 with touch.
var Phone = Options{Width: 390, Height: 844, Phone: true}

// Page is one page in a browser context of its own: no cookie, cache or storage
// is shared with another.
type Page struct {
	ctx    context.Context
	cancel context.CancelFunc
	home   *url.URL

	mu       sync.Mutex
	problems []string
	marks    map[string]bool
}

// Open opens a file's path or a URL, and returns when the page's load event has
// fired. A page from a server may ask that server; a file only itself.
func (b *Browser) Open(address string, o Options) (*Page, error) {
	home, err := url.Parse(address)
	if err != nil || home.Scheme == "" {
		path, err := filepath.Abs(address)
		if err != nil {
			return nil, err
		}
		home = &url.URL{Scheme: "file", Path: path}
	}
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	p := &Page{ctx: ctx, cancel: cancel, home: home, marks: map[string]bool{}}
	if err := p.open(o); err != nil {
		cancel()
		return nil, fmt.Errorf("opening %s: %w", home, err)
	}
	return p, nil
}

func (p *Page) open(o Options) error {
	if err := chromedp.Do(p.ctx); err != nil { // makes the tab; its context must outlive any deadline
		return err
	}
	p.watch()
	if o.Width == 0 {
		o.Width, o.Height = 1280, 900
	}
	o.Scale = cmp.Or(o.Scale, 1)
	scheme := "light"
	if o.Dark {
		scheme = "dark"
	}
	ctx, cancel := p.deadline()
	defer cancel()
	_, size := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: int64(o.Width), Height: int64(o.Height), DeviceScaleFactor: o.Scale, Mobile: o.Phone})
	_, touch := chromedp.Call(ctx, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: o.Phone})
	_, media := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme},
		// What moves can't be compared, nor its colours judged.
		{Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	_, script := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: o.NoScript})
	// Another page that opens meanwhile would take the focus away.
	_, focus := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	if err := errors.Join(size, touch, media, script, focus); err != nil {
		return err
	}
	if o.Before != "" {
		if _, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: o.Before}); err != nil {
			return err
		}
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(p.home.String())); err != nil {
		return err
	}
	// The page's own scripts have been passed over; those that look at it may run.
	_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false})
	return err
}

// Close closes the page and forgets what it stored.
func (p *Page) Close() { p.cancel() }

func (p *Page) deadline() (context.Context, context.CancelFunc) {
	return context.WithTimeout(p.ctx, patience)
}

// Eval evaluates an expression in the page; of a promise it gives what that
// resolves to. The page's security policy does not bind it.
func Eval[T any](p *Page, expression string) (T, error) {
	ctx, cancel := p.deadline()
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, awaited))
	if err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(expression), "\n")
		return v, fmt.Errorf("evaluating %.80s: %w", first, err)
	}
	return v, nil
}

// Wait waits until an expression is true.
func (p *Page) Wait(expression string) error {
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		ok, err := Eval[bool](p, "!!("+expression+")")
		switch {
		case err != nil:
			return err
		case ok:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("after %s not yet: %s", patience, expression)
		}
	}
}

// Settle waits until the page has drawn what it was asked to.
func (p *Page) Settle() error {
	_, err := Eval[bool](p, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(true)))))`)
	return err
}
