package bloomparquet

import "encoding/binary"

// Filters know bytes, and some equal values have different ones: 0 and -0, and the many NaN of floating-point
// numbers.

// isZero reports whether a value, PLAIN bytes, is a zero of floating-point numbers, of either sign.
func (t Type) isZero(value []byte) bool {
	f := t.kind().float
	return f != nil && f.bits(value)&^f.sign == 0
}

// isNaN reports whether a value, PLAIN bytes, is NaN.
func (t Type) isNaN(value []byte) bool {
	f := t.kind().float
	return f != nil && f.bits(value)&^f.sign > f.infinity
}

// Equal returns nil unless the value is a floating-point zero or NaN. A filter that has such a value must
// also have all values that Equal returns, because programs may look up any of them. For a zero, Equal
// returns 0 and -0. For a NaN, it returns the two quiet NaNs without a payload, one of each sign.
func (t Type) Equal(value []byte) [][]byte {
	f := t.kind().float
	bits := uint64(0)
	switch {
	case t.isNaN(value):
		bits = f.infinity | f.quiet
	case !t.isZero(value):
		return nil
	}
	plus, minus := binary.LittleEndian.AppendUint64(nil, bits), binary.LittleEndian.AppendUint64(nil, bits|f.sign)
	return [][]byte{plus[:len(value):len(value)], minus[:len(value):len(value)]}
}

// isUnsure reports whether a value is a zero or NaN of floats.
func (t Type) isUnsure(value []byte) bool { return t.isZero(value) || t.isNaN(value) }
