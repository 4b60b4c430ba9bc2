//go:build linux

package imagestore

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
	dataFiles    = "/data/files"
	dataReader   = "/data/read-lines" // reads them, line by line
	dataArchive  = "/data/archive.tar"
	dataDatabase = "/data/tpcc.db"
)

// The five sizes of each, as everarts2020 has them.
var (
	dataCounts = []int{10, 100, 1000, 10000, 100000}
	dataSizes  = dataimage.Sizes()
	dataBases  = []string{"busybox", "debian", "ubuntu-base", "toolbox"}
	// Files that nothing of the image below need read ask nothing of it.
	anyBases = append([]string{"payload"}, dataBases...)
)

// layeredFiles are as many as an image with layers has: one for each layer at most.
const layeredFiles = 100

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
	bases := anyBases
	if kind == dataimage.Database {
		bases = dataBases
	}
	var under recipe
	if slices.Contains(bases, below) {
		under, err = recipeFor(below)
	}
	if made == nil || under.build == nil || err != nil {
		return r, true, &Error{Text: fmt.Sprintf("there is no image %q; images with data are %sfiles-N:BASE and %sarchive-N:BASE, with N of 10, 100, 1000, 10000 or 100000, %sdatabase-SIZE:BASE, with SIZE of %s, and %slayers-N:BASE, with N of 1 to %d; BASE is one of %s",
			name, dataPrefix, dataPrefix, dataPrefix, strings.Join(dataSizes, ", "), dataPrefix, layeredFiles, strings.Join(bases, ", "))}
	}
	r = recipe{Description: Description{Name: name, What: "the image " + below + " with " + about, How: "as " + below + ", and the data made by this program, below the probe's layer"},
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
		layers := append(slices.Concat(low, data), top)
		return contentOf(c.facts, layers...), nil
	}
	return r, true, nil
}

// dataOf gives what makes the layers of data; nil for what is none.
func dataOf(kind, size string) (made func() ([]tree, error), about string) {
	if kind == dataimage.Database {
		bytes, ok := dataimage.Bytes(size)
		if !ok {
			return nil, ""
		}
		return func() ([]tree, error) {
			var t tree
			t.add(entry{path: dataDatabase, kind: kindFile, mode: 0o644, data: tpcc(bytes)})
			return []tree{t}, nil
		}, fmt.Sprintf("a SQLite database of TPC-C's nine tables, %.4g MB, at %s", bytes/1e6, dataDatabase)
	}
	n, err := strconv.Atoi(size)
	switch {
	case err != nil || strconv.Itoa(n) != size:
		return nil, ""
	case kind == dataimage.Layers && 1 <= n && n <= layeredFiles:
		return func() ([]tree, error) { return filesIn(layeredFiles, n), nil },
			fmt.Sprintf("%d files of one line of %d letters and digits, in %s, in %d layers", layeredFiles, fileLine, dataFiles, n)
	case n < 10 || n > 100000 || !isTen(n):
		return nil, ""
	}
	switch kind {
	case dataimage.Files:
		return func() ([]tree, error) {
			t := filesIn(n, 1)
			t[0].add(entry{path: dataReader, kind: kindFile, mode: 0o755, data: readLines})
			return t, nil
		}, fmt.Sprintf("%d files of one line of %d letters and digits, in %s, and a program that reads them line by line, %s", n, fileLine, dataFiles, dataReader)
	case dataimage.Archive:
		return func() ([]tree, error) {
			data, err := archiveOf(n)
			var t tree
			t.add(entry{path: dataArchive, kind: kindFile, mode: 0o644, data: data})
			return []tree{t}, err
		}, fmt.Sprintf("an uncompressed tar archive of %d files of one line of %d letters and digits, at %s", n, fileLine, dataArchive)
	}
	return nil, ""
}

func isTen(n int) bool {
	for n > 1 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}

// filesIn are n small files, spread evenly over so many layers.
func filesIn(n, layers int) []tree {
	out := make([]tree, layers)
	i := 0
	eachFile(n, func(name string, data []byte) {
		out[i*layers/n].add(entry{path: dataFiles + "/" + name, kind: kindFile, mode: 0o644, data: data})
		i++
	})
	return out
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
