package containerd

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/remotes"
	"github.com/containerd/containerd/v2/core/remotes/docker"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/errdefs"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// pullLimit bounds a pull from loopback.
const pullLimit = 5 * time.Minute

// Pull lets the client fetch and then the daemon unpack, as `ctr images pull` of
// 1.6 does. Newer ones leave both to a service of the daemon, which 1.6 lacks and
// which does not tell them apart. Digests are verified while the bytes arrive, so
// verifying is not a step.
func (env *environment) Pull(ctx context.Context, task engine.PullTask) (engine.Pulled, error) {
	if err := ctx.Err(); err != nil {
		return engine.Pulled{}, fmt.Errorf("pulling %s: %w", task.Ref, err)
	}
	if err := env.d.ping(ctx); err != nil {
		return engine.Pulled{Failure: env.d.failure("before the pull", err)}, nil
	}
	if err := env.d.makeNamespace(ctx, env.kit.Ledger, pullNamespace(env.kit.RunID)); err != nil {
		return engine.Pulled{}, err
	}
	env.pulled(task.Ref)
	ctx, cancel := context.WithTimeout(namespaces.WithNamespace(ctx, pullNamespace(env.kit.RunID)), pullLimit)
	defer cancel()
	transport := &http.Transport{MaxIdleConnsPerHost: 8} // no proxy: it is on loopback
	defer transport.CloseIdleConnections()
	resolver := &stampedResolver{Resolver: docker.NewResolver(docker.ResolverOptions{
		Hosts: docker.ConfigureDefaultRegistries(docker.WithPlainHTTP(docker.MatchLocalhost),
			docker.WithClient(&http.Client{Transport: transport})),
	})}

	p := engine.Pulled{Events: map[record.Event]int64{}}
	restore := stamp.Quiet()
	defer restore()
	p.Events[record.Request] = stamp.Now()
	fetched, err := env.d.Fetch(ctx, task.Ref, client.WithResolver(resolver),
		client.WithPullLabel(engine.Label, env.kit.RunID))
	at := stamp.Now()
	if resolver.at != 0 {
		p.Steps = append(p.Steps, record.Step{Name: engine.StepResolve, At: resolver.at})
	}
	if err != nil {
		p.Failure = env.pullFailure("pulling "+task.Ref, err)
		return p, nil
	}
	p.Steps = append(p.Steps, record.Step{Name: engine.StepTransfer, At: at})
	err = client.NewImage(env.d.Client, fetched).Unpack(ctx, env.settings.snapshotter)
	at = stamp.Now()
	if err != nil {
		p.Failure = env.pullFailure("unpacking "+task.Ref, err)
		return p, nil
	}
	p.Steps = append(p.Steps, record.Step{Name: engine.StepUnpack, At: at})
	p.Events[record.Ready] = at
	if got := fetched.Target.Digest.String(); got != task.Digest {
		p.Failure = &record.Failure{Class: record.WrongComponent,
			Text: fmt.Sprintf("%s has the digest %s, and %s was asked for", task.Ref, got, task.Digest)}
	}
	return p, nil
}

func (env *environment) pullFailure(what string, err error) *record.Failure {
	f := env.d.failure(what, err)
	if errdefs.IsNotFound(err) {
		f.Class = record.Unavailable
	}
	return f
}

// stampedResolver stamps when the reference has become a digest.
type stampedResolver struct {
	remotes.Resolver
	at int64
}

func (r *stampedResolver) Resolve(ctx context.Context, ref string) (string, ocispec.Descriptor, error) {
	name, desc, err := r.Resolver.Resolve(ctx, ref)
	if err == nil {
		r.at = stamp.Now()
	}
	return name, desc, err
}

// pulled notes that an image of a pull is to be dropped at Close, where nobody
// has by then.
func (env *environment) pulled(ref string) {
	env.pulling = true
	if !slices.Contains(env.pulls, ref) {
		env.pulls = append(env.pulls, ref)
	}
}

func (env *environment) Drop(ctx context.Context, ref string) error {
	if err := env.d.removeImage(namespaces.WithNamespace(ctx, pullNamespace(env.kit.RunID)), ref); err != nil {
		return err
	}
	env.pulls = slices.DeleteFunc(env.pulls, func(p string) bool { return p == ref })
	return nil
}
