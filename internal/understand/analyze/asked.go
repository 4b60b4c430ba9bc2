package analyze

// NotAsked is why a cell of a study with parts is missing that no part has. It
// is no gap: reports leave such cells out.
const NotAsked = "the study does not ask for it"
