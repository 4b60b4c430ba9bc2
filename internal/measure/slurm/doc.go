// Package slurm runs a study as a job of Slurm, from a login node and without
// root: it writes a job script, submits it, follows the job and cancels it, all
// by Slurm's own commands (sbatch, squeue, sacct, scontrol, sinfo, scancel),
// which every site has; of its API there are as many versions as releases.
//
// It is opinionated: a study is one job at a time, so that all of a block's
// trials meet the same nodes; a job is ours only by its name and its comment,
// which both have the run's id, and no other is ever cancelled; what was
// submitted is written down before and after, so that a lost login node loses
// nothing.
//
// Why it is so: docs/decisions/clusters.md.
package slurm
