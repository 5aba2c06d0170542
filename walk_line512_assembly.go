//go:build (amd64 || arm64) && !purego

package bloom

// factors returns the factors of 8 probes from the given one on, whose factor it gets. It
// leaves that of the probe after them. For probes past the last, it has the factor of the
// first probe again.
func (d *line512) factors(probe int, factor *uint32) (factors [8]uint32) {
	for i := range factors {
		factors[i] = 1
		if probe+i < d.k {
			factors[i] = *factor
			*factor *= line512Mul
		}
	}
	return factors
}
