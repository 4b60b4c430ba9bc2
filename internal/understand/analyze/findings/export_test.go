package findings

// MatchesEnv is for the tests of the package from outside, which read whole runs.
var MatchesEnv = matchesEnv
