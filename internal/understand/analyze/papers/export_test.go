package papers

// InUnit is for the tests of the package from outside, which read whole runs.
var InUnit = inUnit
