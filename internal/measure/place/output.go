package place

import (
	"io"
	"strconv"
	"strings"

	"plimsoll/internal/common/safepath"
)

// fileOf tells of a file below a job's directory whose it is: mpirun's are
// [JOB/]rank.N/stdout, srun's rank.N.stdout, as it was asked to call them.
func fileOf(rel string) (rank int, stream string, ok bool) {
	i := strings.LastIndex(rel, "rank.")
	if i < 0 {
		return 0, "", false
	}
	rest := rel[i+len("rank."):]
	number, stream, found := strings.Cut(rest, "/")
	if !found {
		number, stream, found = strings.Cut(rest, ".")
	}
	rank, err := strconv.Atoi(number)
	ok = found && err == nil && rank >= 0 && rank < 1<<24 && (stream == "stdout" || stream == "stderr")
	return rank, stream, ok
}

// head reads at most so many bytes of a file.
func head(path string, most int64) ([]byte, error) {
	f, err := safepath.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}
