package adapter

import (
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		"docker: Error response from daemon: boom.\nSee 'docker run --help'.\n": "docker: Error response from daemon: boom.",
		"\x1b[31mFATAL:  \x1b[0m  could not open image\n":                       "FATAL:    could not open image",
		"2024-05-01T10:00:00.123Z: invalid config\n":                            "invalid config",
		"{\"level\":\"error\",\"msg\":\"it broke\"}\n":                          "it broke",
		"error: real\nWARNING: chatter\n":                                       "error: real",
		"WARNING: only chatter\n\n":                                             "WARNING: only chatter",
		"time=\"1\" level=warning msg=quiet\n":                                  "quiet",
	} {
		if got := Words([]byte(in)); got != want {
			t.Errorf("Words(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Words([]byte(strings.Repeat("x", 5000))); len(got) > maxWords+4 {
		t.Errorf("%d bytes are quoted", len(got))
	}
}

func TestName(t *testing.T) {
	n := Name("abcd1234", "Docker/overlay2:x", strings.Repeat("y", 99), "end")
	if len(n) > 60 || !strings.HasPrefix(n, "plimsoll-abcd1234-docker-overlay2-x") || !strings.HasSuffix(n, "end") {
		t.Errorf("name %q", n)
	}
	if strings.Trim(n, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		t.Errorf("name %q has other characters", n)
	}
}
