package podman

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/progress"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

func (env *environment) Pull(ctx context.Context, task engine.PullTask) (engine.Pulled, error) {
	ctx, cancel := context.WithTimeout(ctx, pullLimit)
	defer cancel()
	var p engine.Pulled
	if err := env.Kit.Ledger.Made(env.p.thing(engine.KindImage, task.Ref)); err != nil {
		return p, err
	}
	var err error
	if env.byAPI {
		p, err = env.rest.pull(ctx, task.Ref)
	} else {
		var w adapter.Watched
		pull := adapter.Child(env.p.command("pull", "--tls-verify=false", task.Ref), 0)
		pull.Outlives = true
		w, err = adapter.Watch(ctx, pull)
		p = pulled(&w)
		p.Client = w.Client
	}
	if err != nil {
		p.Failure = adapter.PullFailure(err, patterns)
		if env.byAPI {
			p.Failure.Class = restClass(err)
			p.Failure.Text += env.lost()
		}
		if there, err := env.p.known(ctx, "image", task.Ref); err == nil && !there {
			return p, env.Kit.Ledger.Gone(env.p.thing(engine.KindImage, task.Ref))
		}
		return p, nil
	}
	got, err := env.digests(ctx, task.Ref)
	switch {
	case err != nil:
		p.Failure = &record.Failure{Class: record.EngineError, Text: err.Error()}
	case !got[task.Digest]:
		p.Failure = &record.Failure{Class: record.WrongComponent,
			Text: fmt.Sprintf("podman's image %s has not the manifest %s that was asked for, but %v", task.Ref, task.Digest, got)}
	}
	return p, nil
}

// pullLimit bounds a pull from the loopback.
const pullLimit = 10 * time.Minute

func pulled(w *adapter.Watched) engine.Pulled {
	p := engine.Pulled{Events: map[record.Event]int64{record.Request: w.Begin, record.Ready: w.End}}
	for _, s := range progress.Copying {
		if at := w.At(s.Line); at != 0 {
			p.Steps = append(p.Steps, record.Step{Name: s.Over, At: at})
		}
	}
	return p
}

// pull asks the service, whose answer is a stream of what the command would
// print.
func (r *rest) pull(ctx context.Context, ref string) (engine.Pulled, error) {
	restore := stamp.Quiet()
	defer restore()
	w := adapter.Watched{}
	query := url.Values{"reference": {ref}, "tlsVerify": {"false"}, "policy": {"always"}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://d"+restVersion+"/images/pull?"+query.Encode(), nil)
	if err != nil {
		return engine.Pulled{}, err
	}
	w.Begin = stamp.Now()
	answer, err := r.http.Do(req)
	if err != nil {
		return pulled(&w), err
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	var failed error
	for lines.Scan() {
		at := stamp.Now()
		if answer.StatusCode >= http.StatusMultipleChoices {
			return pulled(&w), refusal(answer.StatusCode, lines.Bytes())
		}
		var report struct{ Stream, Error string }
		if err := json.Unmarshal(lines.Bytes(), &report); err != nil {
			return pulled(&w), fmt.Errorf("reading what podman's service says of a pull: %w", err)
		}
		if report.Error != "" {
			failed = &refused{status: answer.StatusCode, said: report.Error}
		}
		w.Lines = append(w.Lines, adapter.Line{At: at, Text: strings.TrimSpace(report.Stream)})
	}
	w.End = stamp.Now()
	return pulled(&w), errors.Join(failed, lines.Err())
}

// digests are those of the manifests by which podman knows an image under the
// name of ref.
func (env *environment) digests(ctx context.Context, ref string) (map[string]bool, error) {
	i, err := env.p.image(ctx, ref)
	if err != nil {
		return nil, err
	}
	repo := ref[:strings.LastIndex(ref, ":")]
	got := map[string]bool{}
	for _, d := range i.RepoDigests {
		if digest, ok := strings.CutPrefix(d, repo+"@"); ok {
			got[digest] = true
		}
	}
	return got, nil
}

// inspected is what we read of `podman image inspect`.
type inspected struct {
	ID          string `json:"Id"`
	RepoDigests []string
	Size        int64
}

func (p *program) image(ctx context.Context, ref string) (*inspected, error) {
	var list []inspected
	if err := p.read(ctx, &list, "image", "inspect", "--format", "json", ref); err != nil {
		return nil, wrong("looking up the image "+ref, err)
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("podman listed %d images named %s", len(list), ref)
	}
	return &list[0], nil
}

func (env *environment) Drop(ctx context.Context, ref string) error {
	if err := env.p.removeImage(ctx, ref); err != nil {
		return err
	}
	return env.Kit.Ledger.Gone(env.p.thing(engine.KindImage, ref))
}

func (env *environment) Sizes(ctx context.Context, ref string) (engine.ImageSizes, error) {
	none := engine.ImageSizes{Printed: -1, Unpacked: -1, Disk: -1, Shared: -1, Unique: -1, Converted: -1}
	i, err := env.p.image(ctx, ref)
	if err != nil {
		return none, err
	}
	in, err := env.p.info(ctx)
	if err != nil {
		return none, err
	}
	z := none
	z.Printed = i.Size
	s := storeFiles{root: in.Store.GraphRoot, driver: in.Store.GraphDriverName}
	return z, s.sizes(i.ID, &z)
}
