//go:build linux

package image

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/common/dataimage"
)

// Images with data in a lower layer are named as references are, of a registry
// that is this program: plimsoll/files-1000:busybox is busybox and a thousand
// files. What comes before the colon is the data, what comes after it the image
// below.
const dataPrefix = dataimage.Prefix

// Where the data lie.
const (
	DataFiles    = "/data/files"
	DataArchive  = "/data/archive.tar"
	DataDatabase = "/data/tpcc.db"
)

// The five sizes of each, as everarts2020 has them.
var (
	dataCounts = []int{10, 100, 1000, 10000, 100000}
	dataSizes  = dataimage.Sizes()
	dataBases  = []string{"busybox", "debian", "ubuntu-base", "toolbox"}
)

// fileLine is a small file's one line without its end: letters and digits.
const fileLine = 4095

// dataRecipe is the recipe of an image with data. ok says whether the name is of
// such, there or not.
func dataRecipe(name string) (r recipe, ok bool, err error) {
	rest, ok := strings.CutPrefix(name, dataPrefix)
	if !ok {
		return r, false, nil
	}
	what, below, _ := strings.Cut(rest, ":")
	kind, size, _ := strings.Cut(what, "-")
	made, about := dataOf(kind, size)
	var under recipe
	if slices.Contains(dataBases, below) {
		under, err = recipeFor(below)
	}
	if made == nil || under.build == nil || err != nil {
		return r, true, &Error{Text: fmt.Sprintf("there is no image %q; images with data are %sfiles-N:BASE and %sarchive-N:BASE, with N of 10, 100, 1000, 10000 or 100000, and %sdatabase-SIZE:BASE, with SIZE of %s; BASE is one of %s",
			name, dataPrefix, dataPrefix, dataPrefix, strings.Join(dataSizes, ", "), strings.Join(dataBases, ", "))}
	}
	r = recipe{Description: Description{Name: name, What: "the image " + below + " with " + about, How: "as " + below + ", and the data made by this program, as a layer below the probe"},
		bases: under.bases}
	r.build = func(ctx context.Context, s *Store) (*content, error) {
		c, err := under.build(ctx, s)
		if err != nil {
			return nil, err
		}
		data, err := made()
		if err != nil {
			return nil, &Error{Text: "assembling the image " + name, Err: err}
		}
		// The probe's layer stays the topmost one.
		low, top := c.layers[:len(c.layers)-1], c.layers[len(c.layers)-1]
		layers := append(append(append([]tree{}, low...), data), top)
		return contentOf(c.facts, layers...), nil
	}
	return r, true, nil
}

// dataOf gives what makes a layer of data; nil for what is none.
func dataOf(kind, size string) (made func() (tree, error), about string) {
	if kind == "database" {
		bytes, ok := dataimage.Bytes(size)
		if !ok {
			return nil, ""
		}
		return func() (tree, error) {
			var t tree
			t.add(entry{path: DataDatabase, kind: kindFile, mode: 0o644, data: tpcc(bytes)})
			return t, nil
		}, fmt.Sprintf("a SQLite database of TPC-C's nine tables, %.4g MB, at %s", bytes/1e6, DataDatabase)
	}
	n, err := strconv.Atoi(size)
	if err != nil || strconv.Itoa(n) != size || n < 10 || n > 100000 || !isTen(n) {
		return nil, ""
	}
	switch kind {
	case "files":
		return func() (tree, error) {
			var t tree
			eachFile(n, func(name string, data []byte) {
				t.add(entry{path: DataFiles + "/" + name, kind: kindFile, mode: 0o644, data: data})
			})
			return t, nil
		}, fmt.Sprintf("%d files of one line of %d letters and digits, in %s", n, fileLine, DataFiles)
	case "archive":
		return func() (tree, error) {
			data, err := archiveOf(n)
			var t tree
			t.add(entry{path: DataArchive, kind: kindFile, mode: 0o644, data: data})
			return t, err
		}, fmt.Sprintf("an uncompressed tar archive of %d files of one line of %d letters and digits, at %s", n, fileLine, DataArchive)
	}
	return nil, ""
}

func isTen(n int) bool {
	for n > 1 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}

// eachFile makes the small files, the same every time.
func eachFile(n int, add func(name string, data []byte)) {
	r := rand.New(rand.NewPCG(uint64(n), 4096)) //nolint:gosec // what is drawn is no secret
	for i := range n {
		add(fmt.Sprintf("%06d.txt", i), append(lettersOf(r, fileLine), '\n'))
	}
}

func archiveOf(n int) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	var err error
	eachFile(n, func(name string, data []byte) {
		if err == nil {
			err = w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data)), ModTime: epoch, Format: tar.FormatUSTAR})
		}
		if err == nil {
			_, err = w.Write(data)
		}
	})
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}
