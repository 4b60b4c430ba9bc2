package imagestore

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// fileLayer is a gzipped layer in a file, whose digests are known: nothing is
// unpacked again to find them.
type fileLayer struct {
	file   string
	size   int64
	digest v1.Hash // of the gzipped bytes
	diff   v1.Hash // of the plain ones
}

func (l *fileLayer) Digest() (v1.Hash, error)            { return l.digest, nil }
func (l *fileLayer) DiffID() (v1.Hash, error)            { return l.diff, nil }
func (l *fileLayer) Size() (int64, error)                { return l.size, nil }
func (l *fileLayer) MediaType() (types.MediaType, error) { return types.OCILayer, nil }
func (l *fileLayer) Compressed() (io.ReadCloser, error)  { return os.Open(l.file) }
func (l *fileLayer) Uncompressed() (io.ReadCloser, error) {
	f, err := os.Open(l.file)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
}

// layerWriter writes a layer into a file below dir, with the level of
// compression that registries' images usually have.
type layerWriter struct {
	file  *os.File
	out   *bufio.Writer
	z     *gzip.Writer
	both  io.Writer // of the plain bytes: to the compressor and the diff's hash
	sum   hash.Hash
	diff  hash.Hash
	count int64
}

func newLayerWriter(dir string) (*layerWriter, error) {
	f, err := os.CreateTemp(dir, "layer-*.tar.gz")
	if err != nil {
		return nil, err
	}
	w := &layerWriter{file: f, sum: sha256.New(), diff: sha256.New()}
	w.out = bufio.NewWriterSize(countingWriter{io.MultiWriter(f, w.sum), &w.count}, 1<<20)
	w.z = gzip.NewWriter(w.out)
	w.both = io.MultiWriter(w.z, w.diff)
	return w, nil
}

func (w *layerWriter) Write(b []byte) (int, error) { return w.both.Write(b) }

func (w *layerWriter) finish() (*fileLayer, error) {
	err := errors.Join(w.z.Close(), w.out.Flush(), w.file.Close())
	if err != nil {
		return nil, err
	}
	return &fileLayer{file: w.file.Name(), size: w.count, digest: hashOf(w.sum), diff: hashOf(w.diff)}, nil
}

func hashOf(h hash.Hash) v1.Hash {
	return v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(h.Sum(nil))}
}

type countingWriter struct {
	io.Writer
	n *int64
}

func (c countingWriter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	*c.n += int64(n)
	return n, err
}

// recompress writes a layer of the first entries, and then all of another
// layer where one is given, below dir.
func recompress(dir string, first tree, rest v1.Layer) (v1.Layer, error) {
	w, err := newLayerWriter(dir)
	if err != nil {
		return nil, err
	}
	l, err := recompressTo(w, first, rest)
	if err != nil {
		return nil, fmt.Errorf("packing the layer %s: %w", filepath.Base(w.file.Name()), errors.Join(err, w.file.Close()))
	}
	return l, nil
}

func recompressTo(w *layerWriter, first tree, rest v1.Layer) (v1.Layer, error) {
	tw := tar.NewWriter(w)
	if err := first.writeEntries(tw); err != nil {
		return nil, err
	}
	if rest == nil {
		if err := tw.Close(); err != nil {
			return nil, err
		}
		return w.finish()
	}
	if err := tw.Flush(); err != nil { // no end mark: the rest goes on
		return nil, err
	}
	r, err := rest.Uncompressed()
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(w, r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	return w.finish()
}
