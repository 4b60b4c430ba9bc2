package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"syscall"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/forward"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// ways are the ways by which the roles of a workload reach each other.
type ways struct {
	peers bool // from one container to another
	host  bool // from the host to a container
}

// waysOf gives those of a workload. Roles of one pod meet on loopback.
func waysOf(p *workload.Plan) (w ways) {
	if !p.Needs.Network {
		return w
	}
	for i, role := range p.Roles {
		for _, server := range p.Roles[:i] {
			switch {
			case role.Host:
				w.host = true
			case role.Pod == "" || role.Pod != server.Pod:
				w.peers = true
			}
		}
	}
	return w
}

// reach is what was found of an environment's network by trying: nil is a way
// that is open, or that can't be tried.
type reach struct {
	peers, host *engine.Error
	bridge      string // that the containers are on; "" where it is none of this machine's
	untried     bool   // from one container to another: a sandbox has a network stack of its own
}

// cut says why a workload's roles can't reach each other in an environment.
func (r *reach) cut(w ways) *engine.Error {
	switch {
	case r == nil:
		return nil
	case w.peers && r.peers != nil:
		return r.peers
	case w.host:
		return r.host
	}
	return nil
}

// tryReach tries, before anything is measured, whether the containers of the
// environments in which a workload needs it reach each other, and leaves such
// workloads out where they do not: each of their trials would wait for its
// limit. Whatever else runs in the environment goes on.
func (r *runner) tryReach(ctx context.Context, sum *Summary) error {
	jobs, err := r.jobs()
	if err != nil {
		return err
	}
	cells := make([]ways, len(jobs))
	for i, j := range jobs {
		if j.Plan != nil {
			cells[i] = waysOf(j.Plan)
		}
		env := &r.Plan.Environments[r.Plan.Cells[i].Env]
		o := r.session.envs[opened{env.ID, j.image}]
		if o == nil || o.virtual || cells[i] == (ways{}) || o.reach != nil {
			continue
		}
		r.progress.Step("trying whether the containers of " + env.ID + " reach each other")
		o.reach = r.reachOf(ctx, o)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	r.session.inferReach()
	for i, j := range jobs {
		env := &r.Plan.Environments[r.Plan.Cells[i].Env]
		o := r.session.envs[opened{env.ID, j.image}]
		if o == nil {
			continue
		}
		if why := o.reach.cut(cells[i]); why != nil {
			x := exclusion(env, why)
			x.Workload = r.Plan.Workloads[r.Plan.Cells[i].Workload].ID
			sum.Excluded = append(sum.Excluded, x)
			r.progress.Remark(fmt.Sprintf("%s in %s is left out: %v", x.Workload, env.ID, why))
		}
	}
	return nil
}

// inferReach: a sandbox's packets take the bridge that those of others do not
// get over.
func (s *session) inferReach() {
	for _, o := range s.envs {
		for _, other := range s.envs {
			if o.reach != nil && o.reach.untried && other.reach != nil && other.reach.peers != nil && other.reach.bridge == o.reach.bridge && o.reach.bridge != "" {
				o.reach.peers = other.reach.peers
			}
		}
	}
}

// reachOf holds two containers of an environment and connects as programs in
// them would. What the engine can't do, or does wrong, is for its trials to tell.
func (r *runner) reachOf(ctx context.Context, o *openEnv) *reach {
	found := &reach{}
	holder, ok := o.env.(engine.Holder)
	if !ok {
		return found
	}
	var places [2]engine.Place
	var address netip.Addr
	for i := range places {
		task := engine.Task{
			Name: fmt.Sprintf("plimsoll-%s-reach-%d-%d", r.rec.ID, o.order, i), Limit: r.limit(),
			Argv: probe.PayloadArgs{Word: newWord(), Stay: true}.Argv(probePath),
		}
		held, err := holdGuarded(ctx, holder, task)
		if err != nil {
			return found
		}
		defer func() {
			_, _ = endGuarded(context.WithoutCancel(ctx), held, engine.Stop{Grace: roleGrace}) // what is left the end of the run tells
		}()
		places[i] = held.Place()
		if address, err = netip.ParseAddr(places[0].Address); err != nil || address.IsLoopback() {
			return found // there is no network, or it is the host's
		}
	}
	if !places[0].Inner {
		found.bridge = forward.Bridge(address)
	}
	// The namespace of a sandbox with a kernel of its own may have the address
	// too, and what arrives there goes on to that kernel.
	if strings.HasPrefix(o.env.Facts()["kernel"], "foreign") {
		found.untried = true
		return found
	}
	if !places[0].Inner {
		if err := forward.Try(ctx, "", namespaceOf(places[0]), address); stopped(err) {
			found.host = &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf("containers of %s can't be reached from the host: %v", o.rec.ID, err)}
		}
	}
	err := forward.Try(ctx, namespaceOf(places[1]), namespaceOf(places[0]), address)
	found.untried = errors.Is(err, forward.ErrUntried)
	if stopped(err) {
		found.peers = r.blame(ctx, o, found.bridge, err)
	}
	return found
}

// namespaceOf is the network namespace of a container.
func namespaceOf(p engine.Place) string { return fmt.Sprintf("/proc/%d/ns/net", p.PID) }

// stopped says that packets were sent and did not come to their end.
func stopped(err error) bool { return err != nil && !errors.Is(err, forward.ErrUntried) }

// blame tells who stops the packets of an environment's containers.
func (r *runner) blame(ctx context.Context, o *openEnv, bridge string, err error) *engine.Error {
	e := &engine.Error{Class: record.Unavailable}
	if bridge == "" {
		e.Text = fmt.Sprintf("packets between containers of %s do not pass: %v", o.rec.ID, err)
		return e
	}
	how := "dropped"
	if errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EACCES) {
		how = "rejected"
	}
	who, fix := forward.Blame(ctx, r.kit, bridge)
	if strings.Contains(bridge, r.kit.RunID) {
		fix = "" // the next run's bridge has another name
	}
	who = cmp.Or(who, "this machine, and the cause is not known: nft list ruleset, or iptables -S, may show it")
	e.Text, e.Fix = fmt.Sprintf("packets between containers on %s are %s by %s", bridge, how, who), fix
	return e
}

// unreached is the failure of a trial whose roles can't reach each other: where
// trials are recorded already the plan is fixed.
func unreached(o *openEnv, p *workload.Plan) *record.Failure {
	if why := o.reach.cut(waysOf(p)); why != nil {
		return &record.Failure{Class: why.Class, Text: why.Error()}
	}
	return nil
}
