package workload

import (
	"maps"
	"strings"
	"testing"
)

// Written from the documented formats: the programs are in no package. The texts
// are ours, with numbers of nobody's machine.
const (
	osuLatency = `# OSU MPI Latency Test v7.3
# Size          Latency (us)
# Datatype: MPI_CHAR.
1                       0.25
4096                    1.50
`
	osuBandwidth = `# OSU MPI Bandwidth Test v5.6.2
# Size      Bandwidth (MB/s)
1                       4.00
1048576             12000.50
`
	osuFull = `
# OSU MPI All-to-All Personalized Exchange Latency Test v5.9
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
8                       2.00              1.50              2.50        1000
`
	osuBarrier = `
# OSU MPI Barrier Latency Test v5.9
# Avg Latency(us)
             0.75
`
	imbPingPong = `#------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part
#------------------------------------------------------------
# Calling sequence was:
# IMB-MPI1 PingPong
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.50         0.00
         4096         1000         1.25      3276.80


# All processes entering MPI_Finalize
`
	imbAllreduce = `# Benchmarking Allreduce
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier)
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         9.00         9.00         9.00
# Benchmarking Allreduce
# #processes = 4
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         1.00         3.00         2.00
`
	mpiBench = `START mpiBench v1.5
0 : node1
1 : node1
Barrier             	Bytes:           0	Iters:        1000	Avg:       1.2500	Min:       1.0000	Max:       1.5000	Comm: MPI_COMM_WORLD	Ranks: 2
Allreduce           	Bytes:           8	Iters:        1000	Avg:       2.0000	Min:       1.5000	Max:       2.5000	Comm: MPI_COMM_WORLD	Ranks: 2
Allreduce           	Bytes:          16	Iters:        1000	Avg:       3.0000	Min:       1.5000	Max:       4.5000	Comm: MPI_COMM_WORLD	Ranks: 2
Message buffers (KB):	1
END mpiBench
`
	iorText = `IOR-4.0.0: MPI Coordinated Test of Parallel I/O
Results:

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----
write     512.00     2048.00    0.000900    1024.00    256.00     0.000100   0.001800   0.000100   0.002000   0
read      1024.00    4096.00    0.000400    1024.00    256.00     0.000100   0.000800   0.000100   0.001000   0

Max Write: 512.00 MiB/sec (536.87 MB/sec)
Max Read:  1024.00 MiB/sec (1073.74 MB/sec)
`
	mdtestText = `SUMMARY rate: (of 1 iterations)
   Operation                     per Rank      Max            Min           Mean        Std Dev
   ---------                      ---            ---           ----        -------
   File creation             :      15000.500      14000.500      14500.500          0.000
   File stat                 :     150000.000     150000.000     150000.000          0.000
   File removal              :      20000.000      20000.000      20000.000          0.000
-- finished at 01/01/2024 00:00:00 --
`
)

func TestParsersOfMPI(t *testing.T) {
	for _, c := range []struct {
		parser, out string
		want        map[string]float64
	}{
		{"osu", osuLatency, map[string]float64{"latency.1": 250, "latency.4096": 1500, "latency": 1500}},
		{"osu", osuBandwidth, map[string]float64{"bandwidth.1": 4e6, "bandwidth.1048576": 12000.5e6, "bandwidth": 12000.5e6}},
		{"osu", osuFull, map[string]float64{"latency.8": 2000, "latency-min.8": 1500, "latency-max.8": 2500, "latency": 2000, "latency-min": 1500, "latency-max": 2500}},
		{"osu", osuBarrier, map[string]float64{"latency": 750}},
		{"imb", imbPingPong, map[string]float64{"latency.0": 500, "bandwidth.0": 0, "latency.4096": 1250, "bandwidth.4096": 3276.8e6, "latency": 1250, "bandwidth": 3276.8e6}},
		{"imb", imbAllreduce, map[string]float64{"latency.8": 2000, "latency-min.8": 1000, "latency-max.8": 3000, "latency": 2000, "latency-min": 1000, "latency-max": 3000}},
		{"mpibench", mpiBench, map[string]float64{
			"barrier.latency": 1250, "barrier.latency-min": 1000, "barrier.latency-max": 1500, "barrier.latency.0": 1250, "barrier.latency-min.0": 1000, "barrier.latency-max.0": 1500,
			"allreduce.latency.8": 2000, "allreduce.latency-min.8": 1500, "allreduce.latency-max.8": 2500, "allreduce.latency.16": 3000, "allreduce.latency-min.16": 1500, "allreduce.latency-max.16": 4500,
			"allreduce.latency": 3000, "allreduce.latency-min": 1500, "allreduce.latency-max": 4500,
		}},
		{"ior", iorText, map[string]float64{"write": 512 << 20, "read": 1024 << 20}},
		{"mdtest", mdtestText, map[string]float64{"file-creation": 14500.5, "file-stat": 150000, "file-removal": 20000}},
		{"mdtest", strings.ReplaceAll(mdtestText, " :", "  "), map[string]float64{"file-creation": 14500.5, "file-stat": 150000, "file-removal": 20000}},
	} {
		got, err := parse(c.parser, []byte(c.out))
		if err != nil || !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v of\n%s", c.parser, got, err, c.want, c.out)
		}
	}
}

// What is torn, mixed or of another program is refused.
func TestParsersOfMPIRefuse(t *testing.T) {
	for _, c := range []struct{ parser, out, want string }{
		{"osu", "", "no table"},
		{"osu", osuLatency + osuBandwidth, "more than one"},
		{"osu", strings.Replace(osuLatency, "1.50", "nan", 1), "not a number"},
		{"osu", strings.Replace(osuLatency, "1.50", "1.50 3", 1), "columns"},
		{"imb", imbPingPong + imbAllreduce, "more than one"},
		{"imb", osuLatency, "no table"},
		{"imb", strings.Replace(imbPingPong, "3276.80", "", 1), "columns"},
		{"mpibench", osuLatency, "START mpiBench"},
		{"mpibench", "START mpiBench v1.5\n0 : node1\n", "no line"},
		{"ior", "Max Write: 0\n", "no line"},
		{"ior", iorText + iorText, "more than one"},
		{"mdtest", "", "no table"},
		{"mdtest", mdtestText + mdtestText, "twice"},
	} {
		if v, err := parse(c.parser, []byte(c.out)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v %v, want %q", c.parser, v, err, c.want)
		}
	}
}
