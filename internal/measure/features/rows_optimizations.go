package features

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
)

func optimizationRows() []feature {
	pullers := func(a attempt, others map[string]attempt) map[string]attempt {
		by := map[string]attempt{"docker": a, "podman": a, "containerd": a, "charliecloud": a, "apptainer": a}
		maps.Copy(by, others)
		return by
	}
	noPull := untriable(imageServers)
	return []feature{{
		ID: "layered-images", Group: optimizations, Title: "Layered images",
		Means: "a second image on the same base takes only what it adds on the disk",
		By: pullers(func(t *try) {
			p := t.pulls()
			t.observe("on the disk: first image %s, both %s", mib(p.disk), mib(p.both))
			if p.both-p.disk < layerBytes/4 {
				t.yes("the second image took less than a quarter of the layer that both have")
			}
			t.no("the second image took the layer that both have once more")
		}, map[string]attempt{"lxd": func(t *try) {
			t.twice()
			t.no("an image is one archive by itself: the second of one base is as large as the first")
		}}),
	}, {
		ID: "differential-updates", Group: optimizations, Title: "Differential image updates",
		Means: "of a layer in which a few bytes have changed, less than half is transferred",
		By: pullers(func(t *try) {
			p := t.pulls()
			t.observe("a layer of %s in which 7 bytes changed: %s left the registry for it, of %s compressed", mib(layerBytes), mib(p.update), mib(p.layer))
			if p.update < p.layer/2 {
				t.yes("less than half of the changed layer was transferred")
			}
			t.no("the whole layer was transferred again")
		}, map[string]attempt{"lxd": noPull}),
	}, {
		ID: "on-the-fly-extraction", Group: optimizations, Title: "On the fly image extraction",
		Means: "a layer is unpacked while it is still being transferred: half of one is held back",
		By: pullers(func(t *try) {
			if t.held().extracted {
				t.yes("files of the layer were there while its second half was held back")
			}
			t.no("nothing was unpacked within a second of the first half's arrival")
		}, map[string]attempt{"lxd": noPull}),
	}, {
		ID: "pull-cache", Group: optimizations, Title: "Fine-grained cache management during image pull",
		Means: "what a pull writes does not stay in the page cache",
		By: pullers(func(t *try) {
			file := t.pulls().file
			f := strings.Fields(t.must("fincore", "--bytes", "--noheadings", "--output", "RES,SIZE", file))
			if len(f) != 2 {
				t.untried("fincore did not report what is in the page cache")
			}
			res, err := strconv.ParseInt(f[0], 10, 64)
			size, err2 := strconv.ParseInt(f[1], 10, 64)
			switch {
			case err != nil || err2 != nil || size == 0:
				t.untried("fincore did not report what is in the page cache")
			case res < size/10:
				t.yes("what was pulled was not in the page cache afterwards")
			case res > size/2:
				t.no("what was pulled filled the page cache")
			}
			t.untried("a part of what was pulled was in the page cache, which the kernel may have decided")
		}, map[string]attempt{"lxd": noPull}),
	}, {
		ID: "image-compression", Group: optimizations, Title: "Image compression",
		Means: "an image that compresses well takes less than its unpacked size on the disk",
		By: pullers(func(t *try) {
			p := t.pulls()
			t.observe("on the disk: %s, unpacked: at least %s", mib(p.disk), mib(layerBytes))
			if p.disk < layerBytes*3/4 {
				t.yes("the image takes less than three quarters of its unpacked size")
			}
			t.no("the image lies unpacked on the disk")
		}, map[string]attempt{
			"charliecloud": func(t *try) {
				ref := t.pulls().ref
				out := filepath.Join(t.dir, "image.sqfs")
				t.asked("ch-convert", "-i", "ch-image", "-o", "squash", t.b.overTLS(ref), out)
				if size := t.du(out); size >= layerBytes*3/4 {
					t.no("what ch-convert made is as large as what it was made of: %s", mib(size))
				}
				t.shows(t.hear(t.b.env, t.b.hand.once("", out, nil, "echo", "from-squashfs")...), "from-squashfs")
				t.yes("ch-run runs the SquashFS file that ch-convert makes, which is less than three quarters as large")
			},
			"lxd": func(t *try) {
				t.twice()
				t.partial("an image is kept as the archive that it came as, compressed or not; containers are unpacked from it")
			},
		}),
	}}
}

// imageServers says why engines that pull in another way are not tried.
const imageServers = "it pulls from image servers by a protocol of its own, over HTTPS that it must trust, and there is none here"

// pulls is what pulling three images showed: two with the same base, and the
// first again with a few bytes changed.
type pulls struct {
	ref        string
	disk, both int64  // taken by the first, by the first two; bytes
	layer      int64  // the changed layer, compressed
	update     int64  // what was transferred for it
	file       string // of which half can't be compressed, on the disk
}

func (t *try) pulls() pulls {
	return once(t, "pulls", func(t *try) pulls {
		h := t.b.hand
		fetch := func(which string) (ref string, sent int64) {
			ref = t.publish(t.bigSample(which), which)
			t.cleanAll(h.drop(ref))
			before := t.b.registry.served()
			t.asked(h.pull(ref)...)
			return ref, t.b.registry.served() - before
		}
		p := pulls{layer: t.bigLayer("big-new")}
		p.ref, _ = fetch("big-one")
		first := h.layers(t, p.ref)
		p.disk = t.du(first...)
		for _, dir := range first {
			if at := filepath.Join(dir, noiseFile); exists(at) {
				p.file = at
			}
		}
		p.file = cmp.Or(p.file, first[0])
		second, _ := fetch("big-two")
		p.both = t.du(append(first, h.layers(t, second)...)...)
		_, p.update = fetch("big-new")
		return p
	})
}

// bigLayer is the compressed size of the big layer of an image, bytes.
func (t *try) bigLayer(which string) int64 {
	layers, err := t.bigSample(which).Layers()
	if err == nil && len(layers) > 1 {
		var size int64
		if size, err = layers[len(layers)-2].Size(); err == nil {
			return size
		}
	}
	t.untried("looking at the image for it: %v", err)
	return 0
}

// du is what files and directories take on the disk together: what is in
// several of them counts once.
func (t *try) du(paths ...string) int64 {
	lines := strings.Split(strings.TrimSpace(t.must(append([]string{"du", "-scB1"}, paths...)...)), "\n")
	size, _, _ := strings.Cut(lines[len(lines)-1], "\t")
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil {
		t.untried("du did not report a size")
	}
	return n
}

// twice imports two images of the same base into an engine that pulls from no
// registry, and demands that the second is as large as the first.
func (t *try) twice() {
	once(t, "twice", func(t *try) bool {
		for _, which := range []string{"big-one", "big-two"} {
			t.b.hand.provide(t, t.bigSample(which))
		}
		var sizes []string
		for _, line := range strings.Split(t.must(t.b.hand.cmd("image", "list", "--format", "csv", "--columns", "ls")...), "\n") {
			if name, size, ok := strings.Cut(line, ","); ok && strings.HasPrefix(name, "big-") {
				sizes = append(sizes, size)
			}
		}
		if len(sizes) != 2 || sizes[0] != sizes[1] {
			t.untried("its images of one base have the sizes %s", strings.Join(sizes, " and "))
		}
		return true
	})
}

// heldPull is what a pull showed of which half a layer was held back.
type heldPull struct {
	extracted bool // a file of the layer's first half was there meanwhile
	returned  bool // the pull had come to its end meanwhile
}

// holdTime is how long the first half of a layer lies there before it counts
// as not unpacked.
const holdTime = time.Second

func (t *try) held() heldPull {
	return once(t, "held", func(t *try) heldPull {
		marker := "plimsoll-held-" + t.b.name
		s := t.bigSample("big-one")
		img, err := withLayer(s.Image, entry{path: marker, data: []byte("first")}, entry{path: noiseFile + "-held", data: t.noise()})
		t.need("making an image to hold back", err)
		layers, err := img.Layers()
		t.need("making an image to hold back", err)
		top := layers[len(layers)-1]
		digest, err := top.Digest()
		size, err2 := top.Size()
		if err != nil || err2 != nil {
			t.untried("making an image to hold back: %v %v", err, err2)
		}
		ref := t.publish(&sample{Image: img, name: "held"}, "held-"+t.b.name)
		patterns := t.b.hand.unpacked(t)
		t.cleanAll(t.b.hand.drop(ref))

		h, release := t.b.registry.holdBack(digest.String(), size)
		defer release()
		done := make(chan said, 1)
		argv := t.b.hand.pull(ref)
		go func() { done <- t.b.command(t.ctx, t.b.env, nil, argv) }()
		var got heldPull
		var end *said
		select {
		case <-h.reached:
		case s := <-done:
			t.judge(s)
			t.untried("the pull ended before it had asked for the layer")
		case <-t.ctx.Done():
			t.untried("the pull did not come to the layer in time")
		}
		for deadline := time.Now().Add(child.Stretch(holdTime)); time.Now().Before(deadline) && !got.extracted; time.Sleep(20 * time.Millisecond) {
			got.extracted = appeared(patterns, marker)
			select {
			case s := <-done:
				end, got.returned = &s, s.status == 0
			default:
			}
		}
		release()
		if end == nil {
			s := <-done
			end = &s
		}
		t.evidence = append(t.evidence, evidence(argv, *end))
		t.judge(*end)
		t.observe("while half of the last layer was held back: unpacked %v, pull at its end %v", got.extracted, got.returned)
		if !got.extracted && !appearedIn(t.b.hand.layers(t, ref), patterns, marker) {
			t.untried("where it unpacks layers is not known: the file was not found afterwards either")
		}
		return got
	})
}

// appeared says whether a file lies in one of the places that the patterns name.
func appeared(patterns []string, name string) bool {
	for _, p := range patterns {
		if found, _ := filepath.Glob(filepath.Join(p, name)); len(found) > 0 {
			return true
		}
	}
	return false
}

// appearedIn also takes the image's own directories, and for an image that is
// one file that it is there.
func appearedIn(dirs, patterns []string, name string) bool {
	if appeared(patterns, name) || appeared(dirs, name) {
		return true
	}
	info, err := os.Stat(dirs[0])
	return len(dirs) == 1 && err == nil && info.Mode().IsRegular()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func mib(n int64) string { return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MiB" }
