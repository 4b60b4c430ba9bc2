package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/page"
	"plimsoll/internal/understand/page/browsertest"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/view/viewtest"
)

// What is claimed of the report of a million trials.
const (
	reportSize  = 4 << 20     // bytes
	reportReady = time.Second // from the navigation's start until a click is answered
)

// interactive runs in the page before its own script. As soon as the ranking is
// drawn it clicks, and takes the time at which the answer is on the screen.
const interactive = `(() => {
	const chart = () => document.querySelector("#chart-ranking"), says = () => chart().querySelector(".canvas").ariaLabel;
	const wait = () => {
		if (!chart()?.dataset.drawn) {
			chart()?.scrollIntoView();
			return requestAnimationFrame(wait);
		}
		globalThis.drawnAfter = performance.now();
		const before = says();
		document.querySelector('#ranking .segments button[aria-pressed="false"]').click(); // ratios, not times
		requestAnimationFrame(() => requestAnimationFrame(() => {
			globalThis.readyAfter = says() === before ? -1 : performance.now();
		}));
	};
	requestAnimationFrame(wait);
})()`

// reports prints how large the report of a million trials is, and how soon a
// reader can use it. It fails where that is more than claimed.
func reports(ctx context.Context, _ ...string) (err error) {
	dir, err := os.MkdirTemp("", "plimsoll-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, safepath.RemoveAll(dir)) }()
	run := filepath.Join(dir, "run")
	if err := viewtest.Million.Write(run); err != nil {
		return err
	}
	began := time.Now()
	data, err := dataOf(run)
	if err != nil {
		return err
	}
	built := time.Since(began)
	path := filepath.Join(dir, "report.html")
	began = time.Now()
	size, err := writeReport(path, data)
	if err != nil {
		return err
	}
	fmt.Printf("trials          %10d\n", data.Trials.Of)
	fmt.Printf("environments    %10d\n", len(data.Envs))
	fmt.Printf("reading         %10.2f s   records, statistics and the page's data\n", built.Seconds())
	fmt.Printf("writing         %10.2f s\n", time.Since(began).Seconds())
	fmt.Printf("size            %10.2f MB  goal: under %.0f\n", float64(size)/(1<<20), float64(reportSize)/(1<<20))
	drawn, ready, err := timeToInteractive(ctx, path, 7)
	if err != nil {
		return err
	}
	fmt.Printf("ranking drawn   %10.0f ms  median of %d openings, %.0f to %.0f\n", stats.Median(stats.Sorted(drawn)), len(drawn), slices.Min(drawn), slices.Max(drawn))
	fmt.Printf("click answered  %10.0f ms  %.0f to %.0f, goal: under %d\n", stats.Median(stats.Sorted(ready)), slices.Min(ready), slices.Max(ready), reportReady.Milliseconds())
	if size >= reportSize {
		err = errors.Join(err, errors.New("the report is larger than claimed"))
	}
	if stats.Median(stats.Sorted(ready)) >= float64(reportReady.Milliseconds()) {
		err = errors.Join(err, errors.New("the report is slower than claimed"))
	}
	return err
}

// dataOf is what a page draws of a run.
func dataOf(run string) (*view.Data, error) {
	r, err := record.Open(run)
	if err != nil {
		return nil, err
	}
	return view.Build(r, view.Options{})
}

func writeReport(path string, data *view.Data) (int64, error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	if err := errors.Join(page.Write(f, data), f.Close()); err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// timeToInteractive gives the times, ms after the navigation's start, at which
// the ranking was drawn and at which a click was answered.
func timeToInteractive(ctx context.Context, path string, times int) (drawn, ready []float64, err error) {
	b, err := browsertest.Start(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for range times {
		p, err := b.Open(path, browsertest.Options{Before: interactive})
		if err != nil {
			return nil, nil, err
		}
		if err := p.Wait("globalThis.readyAfter"); err != nil {
			return nil, nil, err
		}
		both, err := browsertest.Eval[[]float64](p, "[drawnAfter, readyAfter]")
		p.Close()
		if err != nil {
			return nil, nil, err
		}
		if both[1] < 0 {
			return nil, nil, errors.New("the page did not answer a click")
		}
		drawn, ready = append(drawn, both[0]), append(ready, both[1])
	}
	return drawn, ready, nil
}
