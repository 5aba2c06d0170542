//go:build !purego

package bloom

// form says how many first probes a kernel makes of all hashes. It then compacts the hashes
// that pass and makes their other probes. If first is the number of probes, it compacts none.
type form struct{ first int }

var (
	staged = form{2}
	dense  = form{maxProbes}
)

const slowGather = false // NEON has no gathers
