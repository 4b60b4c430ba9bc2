package web

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"plimsoll/internal/record"
)

// folder is a DIR as it was given: a run, or a folder of runs.
type folder struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Problem says why it cannot be looked into.
	Problem string `json:"problem,omitempty"`
	path    string
}

// place is where a run lies. Its id is all that a request can name: no path
// comes from outside.
type place struct {
	id, folder, name, dir string
}

// Other is a directory beside runs that is none.
type Other struct {
	Folder string `json:"folder"`
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// idOf makes an id of a path: the same for as long as it is there.
func idOf(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:6])
}

// listing knows the runs of the folders.
type listing struct {
	folders []folder

	mu     sync.Mutex
	at     time.Time
	places []*place
	others []Other
	byID   map[string]*place
	seen   map[string]*summarized
}

// scanRest is how long a look into the folders is good for.
const scanRest = time.Second

// scan looks into the folders. The lists must not be changed.
func (l *listing) scan() (places []*place, others []Other, folders []folder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byID != nil && time.Since(l.at) < scanRest {
		return l.places, l.others, l.folders
	}
	l.places, l.others, l.byID = nil, nil, map[string]*place{}
	all := make([]folder, len(l.folders))
	for i, f := range l.folders {
		f.Problem = ""
		if err := l.look(f); err != nil {
			f.Problem = err.Error()
		}
		all[i] = f
	}
	l.folders, l.at = all, time.Now()
	return l.places, l.others, l.folders
}

// look finds the runs of one folder, by the rules of record.Find; that there is
// none yet is no mistake here.
func (l *listing) look(f folder) error {
	if err := holdsRun(f.path); !errors.Is(err, fs.ErrNotExist) {
		l.add(f, filepath.Base(f.path), f.path)
		return nil
	}
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return fmt.Errorf("looking for runs: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(f.path, e.Name())
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		info, err := os.Stat(path) // a link to a folder is one
		if err != nil || !info.IsDir() {
			continue
		}
		if err := holdsRun(path); errors.Is(err, fs.ErrNotExist) {
			l.others = append(l.others, Other{Folder: f.ID, Name: e.Name(), Reason: "it holds no " + record.RunFile})
			continue
		}
		l.add(f, e.Name(), path)
	}
	return nil
}

func (l *listing) add(f folder, name, dir string) {
	p := &place{id: idOf(dir), folder: f.ID, name: name, dir: dir}
	if l.byID[p.id] == nil { // else it was given twice
		l.byID[p.id] = p
		l.places = append(l.places, p)
	}
}

func holdsRun(dir string) error {
	_, err := os.Lstat(filepath.Join(dir, record.RunFile))
	return err
}

// find gives the run of this id, nil where there is none.
func (l *listing) find(id string) *place {
	l.scan()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byID[id]
}

// maxRunFile bounds run.json, in bytes.
const maxRunFile = 64 << 20

// open opens a run, and only one whose files are files: to read a pipe would
// wait for ever.
func (p *place) open() (*record.Reader, error) {
	for _, name := range []string{record.RunFile, record.TrialsFile, record.InsideFile, record.FeaturesFile, record.TimelineFile} {
		info, err := os.Stat(filepath.Join(p.dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("opening a run: %w", err)
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("opening a run: %s is not a file", filepath.Join(p.dir, name))
		case name == record.RunFile && info.Size() > maxRunFile:
			return nil, fmt.Errorf("opening a run: %s has %d MB", filepath.Join(p.dir, name), info.Size()>>20)
		}
	}
	return record.Open(p.dir)
}

// mark tells one state of a file from another.
type mark struct {
	size int64
	at   time.Time
}

func markOf(path string) mark {
	info, err := os.Stat(path)
	if err != nil {
		return mark{}
	}
	return mark{info.Size(), info.ModTime()}
}

// stamp tells one state of a run from another.
type stamp struct {
	files [5]mark // run.json first
	// written: a process writes it at this moment.
	written bool
}

func (p *place) stamp() (s stamp) {
	held, err := record.BeingWritten(p.dir)
	s.written = held && err == nil
	for i, name := range []string{record.RunFile, record.TrialsFile, record.InsideFile, record.FeaturesFile, record.TimelineFile} {
		s.files[i] = markOf(filepath.Join(p.dir, name))
	}
	return s
}
