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

// Equal returns the values that programs may look up instead of a zero or a NaN. For a zero, these are both
// zeros. For a NaN, these are the quiet NaN without a payload, with both signs. A filter that has the given
// value must also have the returned values. For every other value, Equal returns nil, because no other
// bytes are equal to it.
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
