package bloomparquet

import "encoding/binary"

// Filters know bytes, and some equal values have different ones: 0 and -0, and the many NaN of floating-point numbers.

// float returns the bits of a floating-point number without its sign, those of infinity, and the bit of a NaN that is
// quiet. It returns false for values of other types.
func (t Type) float(value []byte) (magnitude, infinity, quiet uint64, ok bool) {
	switch {
	case t.Logical == Float16:
		return uint64(binary.LittleEndian.Uint16(value) &^ (1 << 15)), 0x7c00, 1 << 9, true
	case t.Physical == Float:
		return uint64(binary.LittleEndian.Uint32(value) &^ (1 << 31)), 0x7f800000, 1 << 22, true
	case t.Physical == Double:
		return binary.LittleEndian.Uint64(value) &^ (1 << 63), 0x7ff0 << 48, 1 << 51, true
	}
	return 0, 0, 0, false
}

// IsFloat reports whether values of the type are floating-point numbers.
func (t Type) IsFloat() bool {
	return t.Logical == Float16 || t.Physical == Float || t.Physical == Double
}

// IsZero reports whether a value, PLAIN bytes, is a zero of floating-point numbers, of either sign.
func (t Type) IsZero(value []byte) bool {
	magnitude, _, _, ok := t.float(value)
	return ok && magnitude == 0
}

// IsNaN reports whether a value, PLAIN bytes, is NaN.
func (t Type) IsNaN(value []byte) bool {
	magnitude, infinity, _, ok := t.float(value)
	return ok && magnitude > infinity
}

// Equal returns the values by which programs look for one that is a zero or NaN: both zeros, or the usual NaN of both signs. A filter
// that has the value has to have them, too. It returns nil for others, which no other bytes are equal to.
func (t Type) Equal(value []byte) [][]byte {
	_, infinity, quiet, _ := t.float(value)
	bits := uint64(0)
	switch {
	case t.IsNaN(value):
		bits = infinity | quiet
	case !t.IsZero(value):
		return nil
	}
	plus := binary.LittleEndian.AppendUint64(nil, bits)[:len(value):len(value)]
	minus := append([]byte(nil), plus...)
	minus[len(minus)-1] |= 0x80
	return [][]byte{plus, minus}
}
