package features

import (
	"context"
	"net"
	"os"
	"path/filepath"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine/adapter"
)

// fromGit builds from a repository on loopback.
func fromGit(t *try) {
	tag, img := t.builtName("from-git")
	address := t.repository(t.baseName())
	t.drops(tag)
	t.refuses([]string{"not yet supported", "not found", "no such file", "not a directory"}, t.build(tag, "", address)...)
	t.shows(t.hear(t.b.env, t.b.hand.once(t.b.fresh(), img, nil, "cat", "/copied")...), "copied-file")
}

// repository serves a git repository on loopback until the attempt has ended,
// and gives its address. Git answers on connections that we take.
func (t *try) repository(from string) string {
	dir := t.buildContext(from)
	t.need("making a repository", os.Rename(filepath.Join(dir, "Containerfile"), filepath.Join(dir, "Dockerfile")))
	bare := filepath.Join(t.dir, "repositories", "image.git")
	git := []string{"git", "-C", dir, "-c", "user.name=plimsoll", "-c", "user.email=plimsoll@localhost", "-c", "init.defaultBranch=master", "-c", "safe.directory=*"}
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "."}, {"commit", "--quiet", "--message", "image"}, {"clone", "--quiet", "--bare", dir, bare}} {
		if s := t.b.command(t.ctx, t.b.env, nil, append(git[:len(git):len(git)], args...)); s.status != 0 {
			t.untried("making a git repository to build from: %s %v", t.plain(s), s.err)
		}
	}
	path, err := t.b.kit.LookPath("git")
	if err != nil {
		t.untried("git is not installed")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	t.need("serving a git repository", err)
	t.later(func(context.Context) { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // it was closed
			}
			go answerGit(t.ctx, c, path, filepath.Dir(bare))
		}
	}()
	return "git://" + l.Addr().String() + "/image.git"
}

func answerGit(ctx context.Context, c net.Conn, path, base string) {
	defer func() { _ = c.Close() }()     // who has asked sees it
	_, _ = child.Run(ctx, child.Command{ // how it ends, who has asked sees
		Argv: []string{path, "daemon", "--inetd", "--export-all", "--base-path=" + base, base},
		// Another owner than the one who asks is no danger in a repository of ours.
		Env:   []string{adapter.Path, "HOME=" + base, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
		Stdin: c, Stdout: c,
	})
}
