package calibrate

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
)

// Text writes the tables, in per cent.
func (r *Report) Text(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "Shapes: what scatters around the truth, on the logarithm; without drift, blocks differ by 3 %%.\n")
	t := table(b)
	for _, s := range r.Shapes {
		fmt.Fprintf(t, "  %s\t%s\n", s.Name, s.What)
	}
	_ = t.Flush() // into the buffer, whose errors come at its end
	r.coverage(b)
	r.families(b)
	r.power(b)
	r.pairs(b)
	r.hosts(b)
	fmt.Fprintf(b, "\nSeed %d. A rate of 95 %% of %d is known to ±%.1f %%, one of 5 %% of %d to ±%.1f %% (95 %% intervals).\n",
		r.Seed, r.Reps, 196*math.Sqrt(.95*.05/float64(max(1, r.Reps))), r.FamilyReps, 196*math.Sqrt(.95*.05/float64(max(1, r.FamilyReps))))
	for _, m := range r.Misses {
		fmt.Fprintln(b, "NOT AS DEMANDED:", m)
	}
	if len(r.Misses) == 0 {
		fmt.Fprintln(b, "All as demanded: coverage at least 94 % (of ratios of unlike shapes 91 %, in 6 blocks 86 %), from 10 blocks on at most 98 %")
		fmt.Fprintln(b, "(but of medians under drift, and of ties);")
		fmt.Fprintln(b, "equal environments called different in at most 5 %, and any of 50 too; +5 % found in 20 log-normal blocks in at least 90 %.")
		if len(r.Pairs) > 0 {
			fmt.Fprintf(b, "Of two runs at least %.0f %% (on a machine that walks or has spells %.0f %%, of two humps on one that walks %.0f %%, and at most %.0f %% called different there), at most %.0f %% wider than with no baseline.\n",
				100*leastPair, 100*leastMoving, 100*leastHumps, 100*mostHumps, 100*widest)
		}
	}
	return b.Flush()
}

func table(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }

func (r *Report) coverage(w io.Writer) {
	if len(r.Coverage) == 0 {
		return
	}
	fmt.Fprint(w, "\nHow often 95 % intervals hold the truth (their mean width), and how often equal environments are called different:\n"+
		"by p < 5 %, by the mark in a report, by compare of two runs.\n")
	t := table(w)
	fmt.Fprintln(t, "shape\tblocks\ttrials\tratio\tmedian\tsuite\ttwo runs\tp\tmark\tcompare")
	for _, c := range r.Coverage {
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%s\t%s\t%.1f\t%.1f\t%.1f\n", c.Shape, c.Blocks, c.Blocks*c.PerBlock,
			held(c.Ratio), held(c.Median), held(c.Suite), held(c.TwoRuns), 100*c.Same.Rate(), 100*c.Marked.Rate(), 100*c.Changed.Rate())
	}
	_ = t.Flush()
}

func held(t Tally) string { return fmt.Sprintf("%.1f (%.3g)", 100*t.Rate(), 100*t.Width) }

func (r *Report) families(w io.Writer) {
	if len(r.Families) == 0 {
		return
	}
	fmt.Fprintf(w, "\nRuns of %d equal environments with any false alarm: among all pairs, and against native.\n", r.Families[0].Environments)
	t := table(w)
	fmt.Fprintln(t, "shape\tblocks\tpairs, p\tgroups (Holm)\tagainst native, p\tmarks (Holm)")
	for _, f := range r.Families {
		fmt.Fprintf(t, "%s\t%d\t%.1f\t%.1f\t%.1f\t%.1f\n", f.Shape, f.Blocks, 100*f.RawPairs.Rate(), 100*f.Groups.Rate(), 100*f.RawRatios.Rate(), 100*f.Marks.Rate())
	}
	_ = t.Flush()
}

func (r *Report) pairs(w io.Writer) {
	if len(r.Pairs) == 0 {
		return
	}
	fmt.Fprint(w, "\nOne environment, the same in two runs, with native and floor next to it (a machine that moves as drift says): how often\n"+
		"95 % intervals hold the truth (their mean width), and how often it is said to be better or worse. All alike: the second\n"+
		"machine is slower or faster by 5 %. Each its own: and each environment besides by 3 %; known: by 8 earlier runs.\n"+
		"Busy: others have three threads on two processors next to NEW, which costs each environment up to half of what it would\n"+
		"if it computed all the time; crowded: next to both.\n")
	t := table(w)
	fmt.Fprintln(t, "shape\tdrift\tblocks\tno baseline\t/ native\tlearnt\tcompare\tall alike, none\tlearnt\teach its own, not known\tknown\tcompare\tbusy\tcompare\tcrowded\tcompare")
	for _, p := range r.Pairs {
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%s\t%.1f\t%.1f\t%s\t%.1f\t%s\t%.1f\t%s\t%.1f\t%s\t%.1f\n", p.Shape, p.Drift, p.Blocks, held(p.None), held(p.Native), held(p.Learnt), 100*p.Changed.Rate(),
			100*p.AlikeNone.Rate(), held(p.Alike), 100*p.Unknown.Rate(), held(p.Known), 100*p.KnownChanged.Rate(),
			held(p.Busy), 100*p.BusyChanged.Rate(), held(p.Crowded), 100*p.CrowdedChanged.Rate())
	}
	_ = t.Flush()
	for _, d := range drifts {
		fmt.Fprintf(t, "  %s\t%s\n", d.name, d.what)
	}
	_ = t.Flush()
}

func (r *Report) power(w io.Writer) {
	if len(r.Power) == 0 {
		return
	}
	fmt.Fprint(w, "\nHow often a true difference is found (two environments, marked as different by more than 1 %).\n")
	t := table(w)
	fmt.Fprint(t, "shape\tblocks")
	for _, g := range r.Gains {
		fmt.Fprintf(t, "\t+%.0f %%", 100*g)
	}
	fmt.Fprintln(t)
	for _, p := range r.Power {
		fmt.Fprintf(t, "%s\t%d", p.Shape, p.Blocks)
		for _, f := range p.Found {
			fmt.Fprintf(t, "\t%.1f", 100*f.Rate())
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush()
}

func (r *Report) hosts(w io.Writer) {
	if len(r.Hosts) == 0 {
		return
	}
	fmt.Fprint(w, "\nOne environment on several hosts, on which its ratio to native scatters: how often the interval for machines in general\n"+
		"holds the truth (its mean width), how often that for one more host and that of the spread do, how often hosts that are alike\n"+
		"are said to differ, and how often 15 % more on every second host is found.\n")
	t := table(w)
	fmt.Fprintln(t, "shape\thosts\tblocks\tspread, %\tpooled\tone more\tspread\talarm\tfound")
	for _, h := range r.Hosts {
		next, between := "-", "-"
		if h.Next.N > 0 {
			next = held(h.Next)
		}
		if h.Between.N > 0 {
			between = fmt.Sprintf("%.1f", 100*h.Between.Rate())
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%.0f\t%s\t%s\t%s\t%.1f\t%.1f\n", h.Shape, h.Hosts, h.Blocks, 100*h.Spread, held(h.Pooled), next, between,
			100*h.Alarm.Rate(), 100*h.Found.Rate())
	}
	_ = t.Flush()
}
