package slurm

import (
	"bufio"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// queue is what squeue of Slurm 22.05 printed on the lab's two nodes: a job
// that has ended well, one at its time limit, one whose node died, and the one
// that waits for that node.
const queue = `2|COMPLETED|plimsoll|n1|30:00|2026-11-23T07:26:36|None|plimsoll-3vro44wx|plimsoll run 3vro44wx
3|FAILED|plimsoll|n1|365-00:00:00|2026-11-23T07:28:11|NonZeroExitCode|plimsoll-6ck6buhm|plimsoll run 6ck6buhm
5|NODE_FAIL|plimsoll|n[1-2]|UNLIMITED|2026-11-23T07:28:48|NodeDown|plimsoll-lgn1u4vv|plimsoll run lgn1u4vv
6|PENDING|plimsoll||UNLIMITED|N/A|ReqNodeNotAvail, UnavailableNodes:n1|plimsoll-lgn1u4vv|plimsoll run lgn1u4vv
`

func TestParseJobs(t *testing.T) {
	jobs, err := parseJobs("squeue", queue)
	if err != nil || len(jobs) != 4 {
		t.Fatalf("%+v %v", jobs, err)
	}
	want := Job{ID: "2", State: Completed, User: "plimsoll", Nodes: "n1", Limit: 30 * time.Minute, Start: "2026-11-23T07:26:36", Name: "plimsoll-3vro44wx", Comment: "plimsoll run 3vro44wx"}
	if jobs[0] != want {
		t.Errorf("%+v", jobs[0])
	}
	if j := jobs[3]; !j.State.Waits() || j.State.Over() || j.Reason != "ReqNodeNotAvail, UnavailableNodes:n1" || j.Start != "" || j.Nodes != "" || j.Limit != 0 || !j.Ours("lgn1u4vv") || j.Ours("3vro44wx") {
		t.Errorf("%+v", j)
	}
	if j := jobs[2]; !j.State.Over() || !j.State.Again() || jobs[1].State.Again() {
		t.Errorf("%+v", j)
	}
	if j, ok := one(jobs, "5"); !ok || j.State != NodeFail {
		t.Errorf("%+v %v", j, ok)
	}
	for text, state := range map[string]State{
		// https://slurm.schedmd.com/sacct.html#SECTION_JOB-STATE-CODES: by whom it was cancelled.
		"7|CANCELLED by 995|ada|n1|10:00|2026-11-23T07:00:00|0:15|plimsoll-3vro44wx|plimsoll run 3vro44wx": Cancelled,
		"8_4|CANCELLED+|eve||1-00:00:00|Unknown|0:0|a|":                                                    Cancelled,
		"9|RUNNING|eve|n2|UNLIMITED|N/A|None|a name|a comment | with | bars":                               Running,
		"10_[1-3,7%2]|PENDING|eve||1:00|N/A|Priority|array|(null)":                                         Pending,
	} {
		jobs, err := parseJobs("sacct", text)
		if err != nil || len(jobs) != 1 || jobs[0].State != state {
			t.Errorf("%s: %+v %v", text, jobs, err)
		}
	}
	for _, bad := range []string{"nonsense", "12|RUNNING", "x|RUNNING|a|b|c|d|e|f|g", "12||a|b|c|d|e|f|g", "slurm_load_jobs error: Invalid job id specified"} {
		if jobs, err := parseJobs("squeue", queue+bad); err == nil || !strings.Contains(err.Error(), "squeue, line 5") {
			t.Errorf("%q: %+v %v", bad, jobs, err)
		}
	}
}

func TestParseTime(t *testing.T) {
	for text, want := range map[string]time.Duration{
		// https://slurm.schedmd.com/sbatch.html#OPT_time has these forms.
		"90": 90 * time.Minute, "1:30": 90 * time.Second, "1:30:00": 90 * time.Minute, "2-12": 60 * time.Hour,
		"1-00:30": 24*time.Hour + 30*time.Minute, "365-00:00:00": 365 * 24 * time.Hour, "0:10": 10 * time.Second,
	} {
		if d, err := ParseTime(text); err != nil || d != want {
			t.Errorf("%s: %v %v, want %v", text, d, err, want)
		}
	}
	for _, bad := range []string{"", "UNLIMITED", "1:2:3:4", "-5", "367-00", "9999999", "1h", "1-"} {
		if d, err := ParseTime(bad); err == nil {
			t.Errorf("%q is %v", bad, d)
		}
	}
}

func TestParseSubmitted(t *testing.T) {
	for text, want := range map[string]string{"12\n": "12", "12;cluster\n": "12", "a plug-in's greeting\n13\n": "13"} {
		if id, err := parseSubmitted(text); err != nil || id != want {
			t.Errorf("%q: %q %v", text, id, err)
		}
	}
	for _, bad := range []string{"", "Submitted batch job 12", "0", "-1", "12 13", "99999999999"} {
		if id, err := parseSubmitted(bad); err == nil {
			t.Errorf("%q: %q", bad, id)
		}
	}
}

func TestParseNodes(t *testing.T) {
	nodes, err := parseNodes("n1|down*\nn2|idle\nn2|idle\n")
	if err != nil || !slices.Equal(nodes, []Node{{"n1", "down*"}, {"n2", "idle"}}) || !nodes[0].Bad() || nodes[1].Bad() {
		t.Errorf("%+v %v", nodes, err)
	}
	for state, bad := range map[string]bool{"allocated": false, "mixed": false, "completing": false, "drained": true, "idle*": true, "fail": true, "maint": true} {
		if (Node{"n", state}).Bad() != bad {
			t.Errorf("%s: %v", state, !bad)
		}
	}
	if nodes, err := parseNodes("n1|idle\nn2\n"); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%+v %v", nodes, err)
	}
}

// The line of scontrol show job -o of Slurm 22.05, with a comment that wants to
// be taken for a job's state.
func TestParseShow(t *testing.T) {
	const line = `JobId=2 JobName=plimsoll-3vro44wx UserId=plimsoll(995) GroupId=plimsoll(995) MCS_label=N/A Priority=4294901758 Nice=0 Account=(null) QOS=(null) JobState=COMPLETED Reason=None Dependency=(null) Requeue=0 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:9 RunTime=00:00:33 TimeLimit=00:30:00 CPUs/Task=1 ReqB:S:C:T=0:0:*:* TRES=cpu=2,node=1,billing=2 Comment=a JobState=FAILED ExitCode=7:0 StdIn=/dev/null Power= `
	m := parseShow(line + "\nJobId=3 JobState=FAILED\n")
	for key, want := range map[string]string{"JobId": "2", "JobState": "COMPLETED", "ExitCode": "0:9", "TRES": "cpu=2,node=1,billing=2", "ReqB:S:C:T": "0:0:*:*", "Power": "", "Comment": "a"} {
		if got, ok := m[key]; !ok || got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

func TestStates(t *testing.T) {
	for _, s := range []State{"", "COMPLETING", "SUSPENDED", "STAGE_OUT", "A_NEWER_ONE", Running, Pending} {
		if s.Over() || s.Again() {
			t.Errorf("%s is an end", s)
		}
	}
	for _, s := range over {
		if s.Waits() || s.Text() == "" {
			t.Errorf("%s waits, or says nothing", s)
		}
	}
}

// FuzzParsers: what Slurm and whoever has jobs in it may print.
func FuzzParsers(f *testing.F) {
	f.Add(queue)
	f.Add("0| |||||||")
	f.Add("n1|down*\nn2|idle\n")
	f.Add("12;cluster\n")
	f.Add("1-00:30:00")
	f.Add("JobId=2 JobName=a=b c=d ExitCode=0:0")
	f.Add(`{"at":"2026-11-23T07:26:35Z","step":"submitted","run":"3vro44wx","job":"2"}` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		jobs, _ := parseJobs("squeue", text)
		for _, j := range jobs {
			if !jobID.MatchString(j.ID) || j.State == "" {
				t.Errorf("%q gives %+v", text, j)
			}
		}
		if d, err := ParseTime(text); err == nil && (d < 0 || d > maxTime) {
			t.Errorf("%q is %v", text, d)
		}
		if id, err := parseSubmitted(text); err == nil && !jobID.MatchString(id) {
			t.Errorf("%q gives the job %q", text, id)
		}
		nodes, _ := parseNodes(text)
		for _, n := range nodes {
			if n.Name == "" || n.State == "" {
				t.Errorf("%q gives %+v", text, n)
			}
		}
		parseShow(text)
		entries, err := parseLedger([]byte(text))
		if err != nil && !errors.Is(err, bufio.ErrTooLong) {
			t.Errorf("%q: %v", text, err)
		}
		for _, e := range entries {
			if !runID.MatchString(e.Run) {
				t.Errorf("%q gives %+v", text, e)
			}
		}
	})
}
