//go:build !purego

package bloom

var (
	staged = form{first: 2}
	dense  = form{first: maxProbes}
)
