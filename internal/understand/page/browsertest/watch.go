//go:build linux

package browsertest

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

const mark = "browsertest mark "

// watch collects from now on what goes wrong in the page.
func (p *Page) watch() {
	collect(p, runtime.ConsoleAPICalled, p.console)
	collect(p, runtime.ExceptionThrown, func(e runtime.EventExceptionThrown) {
		p.problem("exception: %s", thrown(e.ExceptionDetails))
	})
	collect(p, log.EntryAdded, func(e log.EventEntryAdded) {
		if e.Entry.Level == log.EntryLevelError {
			p.problem("console: %s %s", e.Entry.Text, e.Entry.URL)
		}
	})
	collect(p, network.RequestWillBeSent, func(e network.EventRequestWillBeSent) {
		if !p.allowed(e.Request.URL) {
			p.problem("request: %.200s", e.Request.URL)
		}
	})
	collect(p, network.WebSocketCreated, func(e network.EventWebSocketCreated) {
		if !p.allowed(strings.Replace(e.URL, "ws", "http", 1)) {
			p.problem("request: %.200s", e.URL)
		}
	})
	collect(p, page.WindowOpen, func(e page.EventWindowOpen) { p.problem("window opened: %.200s", e.URL) })
	collect(p, page.JavascriptDialogOpening, func(e page.EventJavascriptDialogOpening) {
		p.problem("dialog: %.200s", e.Message)
		// It fails where the page is gone, and then there is no dialog either.
		_, _ = chromedp.Call(p.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: false})
	})
}

func collect[E any](p *Page, what cdp.Event[E], f func(E)) {
	events := chromedp.Events(p.ctx, what)
	go func(events iter.Seq2[E, error]) {
		for e, err := range events {
			if err != nil {
				return
			}
			f(e)
		}
	}(events)
}

func (p *Page) console(e runtime.EventConsoleAPICalled) {
	var words []string
	for _, a := range e.Args {
		word := cmp.Or(strings.Trim(string(a.Value), `"`), a.Description)
		words = append(words, word)
	}
	text := strings.Join(words, " ")
	switch e.Type {
	case runtime.ConsoleAPICalledTypeError, runtime.ConsoleAPICalledTypeWarning, runtime.ConsoleAPICalledTypeAssert:
		p.problem("console.%s: %s", e.Type, text)
	case runtime.ConsoleAPICalledTypeDebug:
		if strings.HasPrefix(text, mark) {
			p.mu.Lock()
			p.marks[text] = true
			p.mu.Unlock()
		}
	}
}

func thrown(d *runtime.ExceptionDetails) string {
	if d.Exception != nil && d.Exception.Description != "" {
		return d.Exception.Description
	}
	return d.Text
}

// allowed says whether a page may ask for an address: what it carries itself,
// its own file, or the server that it is from.
func (p *Page) allowed(address string) bool {
	scheme, _, _ := strings.Cut(address, ":")
	if slices.Contains([]string{"data", "blob", "about"}, scheme) {
		return true
	}
	if p.home.Scheme == "file" {
		own := *p.home
		own.Fragment = ""
		path, _, _ := strings.Cut(address, "#")
		return path == own.String()
	}
	return strings.HasPrefix(address, p.home.Scheme+"://"+p.home.Host+"/")
}

func (p *Page) problem(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = append(p.problems, fmt.Sprintf(format, args...))
}

// Problems are the errors and warnings on the console, exceptions, requests to
// anywhere else, windows and dialogs until now, in the order in which they came.
func (p *Page) Problems() ([]string, error) {
	text := fmt.Sprint(mark, time.Now().UnixNano())
	if _, err := Eval[bool](p, fmt.Sprintf("console.debug(%q), true", text)); err != nil {
		return nil, err
	}
	seen := func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.marks[text]
	}
	for end := time.Now().Add(patience); !seen(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return nil, fmt.Errorf("the page's console has said nothing for %s", patience)
		}
	}
	// Each kind of event is handed over on its own; the mark says that the
	// others are on their way.
	time.Sleep(20 * time.Millisecond)
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.problems), nil
}
