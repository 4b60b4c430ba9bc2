package storage

import (
	"context"
	"encoding/xml"
	"fmt"
	"math"
	"regexp"
	"strings"
)

// readGluster reads the profile of each volume that is profiled, by the gluster
// command. Bricks hold data and metadata both, so that a brick counts as both
// kinds of server.
func readGluster(ctx context.Context, m *Machine, _ string) (Reading, error) {
	if _, err := m.lookPath("gluster"); err != nil {
		return nil, absent("there is no gluster command here")
	}
	if len(m.glob("/var/lib/glusterd/vols/*/info")) == 0 {
		return nil, absent("this machine serves no volume of GlusterFS, or you are not root")
	}
	out, err := m.run(ctx, "gluster", "--mode=script", "volume", "list")
	if err != nil {
		return nil, err
	}
	r := Reading{}
	var off []string
	for _, volume := range strings.Fields(string(out)) {
		// "peek" leaves the interval statistics as they are, which others may read.
		out, err := m.run(ctx, "gluster", "--mode=script", "volume", "profile", volume, "info", "peek", "--xml")
		if err != nil {
			return nil, err
		}
		text, err := m.run(ctx, "gluster", "--mode=script", "volume", "profile", volume, "info", "peek")
		if err != nil {
			text = nil // waits are left out then; a volume that is not profiled fails here
		}
		one, err := parseGluster(out, glusterUnit(text))
		if err != nil {
			return nil, err
		}
		if len(one) == 0 {
			off = append(off, volume)
		}
		for brick, i := range one {
			r[volume+" "+brick] = i
		}
	}
	if len(r) == 0 {
		return nil, absent("no volume is profiled", "gluster volume profile "+strings.Join(append(off, "VOLUME")[:1], "")+" start")
	}
	return r, nil
}

// glusterProfile is what `gluster volume profile NAME info --xml` prints, as far
// as it is used here.
type glusterProfile struct {
	OpRet    int    `xml:"opRet"`
	OpErrstr string `xml:"opErrstr"`
	Bricks   []struct {
		Name       string `xml:"brickName"`
		Cumulative *struct {
			Fops []struct {
				Name       string  `xml:"name"`
				Hits       int64   `xml:"hits"`
				AvgLatency float64 `xml:"avgLatency"`
			} `xml:"fopStats>fop"`
			Duration int64 `xml:"duration"` // s since the brick began to count
			Read     int64 `xml:"totalRead"`
			Written  int64 `xml:"totalWrite"`
		} `xml:"cumulativeStats"`
	} `xml:"volProfile>brick"`
}

// glusterData are the operations that carry data or settle it; glusterNotices
// ask nothing. All others are of metadata.
var (
	glusterData    = map[string]bool{"READ": true, "WRITE": true, "FSYNC": true, "FLUSH": true, "DISCARD": true, "ZEROFILL": true, "FALLOCATE": true, "READV": true, "WRITEV": true}
	glusterNotices = map[string]bool{"FORGET": true, "RELEASE": true, "RELEASEDIR": true, "UPCALL": true, "CI_IATT": true, "CI_XATTR": true, "CI_RENAME": true, "CI_UNLINK": true, "CI_FORGET": true, "CI_NLINK": true, "IPC": true}
)

// glusterLatency is a time as the text of a profile has it.
var glusterLatency = regexp.MustCompile(`\d\.\d\d (us|ns) `)

// glusterUnit gives the unit of the XML's latencies, ns, which only the text
// tells: older versions count µs (as the documentation's example), 10.3 has ns.
// 0: it is not known.
func glusterUnit(text []byte) int64 {
	switch m := glusterLatency.FindSubmatch(text); {
	case m == nil:
		return 0
	case string(m[1]) == "us":
		return 1000
	}
	return 1
}

// parseGluster gives the counters of each brick, with waits where the unit of
// latencies is known, ns. A volume whose profile is off has no bricks.
func parseGluster(b []byte, unit int64) (Reading, error) {
	var p glusterProfile
	if err := xml.Unmarshal(b, &p); err != nil {
		return nil, fmt.Errorf("gluster volume profile: %w", err)
	}
	if p.OpRet != 0 {
		if strings.Contains(p.OpErrstr, "not started") {
			return Reading{}, nil
		}
		return nil, fmt.Errorf("gluster volume profile: %s", p.OpErrstr)
	}
	r := Reading{}
	for _, brick := range p.Bricks {
		s := brick.Cumulative
		if s == nil {
			continue
		}
		c := map[string]int64{DataRead: s.Read, DataWritten: s.Written, ".duration": s.Duration,
			DataRequests: 0, DataWait: 0, MetadataRequests: 0, MetadataWait: 0, MetadataOpens: 0}
		for _, f := range s.Fops {
			if f.Hits < 0 || !(f.AvgLatency >= 0) || float64(f.Hits)*f.AvgLatency*float64(unit) > math.MaxInt64/1024 {
				return nil, fmt.Errorf("gluster volume profile: %s of %s was called %d times and took %g each", f.Name, brick.Name, f.Hits, f.AvgLatency)
			}
			wait := int64(float64(f.Hits) * f.AvgLatency * float64(unit))
			switch {
			case glusterNotices[f.Name]:
			case glusterData[f.Name]:
				c[DataRequests] += f.Hits
				c[DataWait] += wait
			default:
				c[MetadataRequests] += f.Hits
				c[MetadataWait] += wait
			}
			if f.Name == "OPEN" || f.Name == "CREATE" {
				c[MetadataOpens] += f.Hits
			}
		}
		if unit == 0 {
			delete(c, DataWait)
			delete(c, MetadataWait)
		}
		r[brick.Name] = Instance{Counters: c}
	}
	return r, nil
}
