package bloomparquet

import (
	"encoding/hex"
	"testing"
)

// TestEqual has the bytes of zeros and NaN of each type, and of values beside them.
func TestEqual(t *testing.T) {
	half := Type{Physical: FixedLenByteArray, Width: 2, Logical: Float16}
	for _, test := range []struct {
		of          Type
		value       string
		plus, minus string
		nan         bool
	}{
		{half, "0000", "0000", "0080", false}, {half, "0080", "0000", "0080", false}, {half, "0100", "", "", false}, {half, "007c", "", "", false},
		{half, "017c", "007e", "00fe", true}, {half, "05fe", "007e", "00fe", true},
		{Type{Physical: Float}, "00000000", "00000000", "00000080", false}, {Type{Physical: Float}, "00000080", "00000000", "00000080", false},
		{Type{Physical: Float}, "0000807f", "", "", false}, {Type{Physical: Float}, "01000000", "", "", false},
		{Type{Physical: Float}, "0100807f", "0000c07f", "0000c0ff", true}, {Type{Physical: Float}, "0000c0ff", "0000c07f", "0000c0ff", true},
		{Type{Physical: Double}, "0000000000000080", "0000000000000000", "0000000000000080", false}, {Type{Physical: Double}, "000000000000f07f", "", "", false},
		{Type{Physical: Double}, "010000000000f0ff", "000000000000f87f", "000000000000f8ff", true},
		{Type{Physical: Int64}, "0000000000000080", "", "", false}, {Type{Physical: FixedLenByteArray, Width: 2}, "0000", "", "", false}, {Type{Physical: ByteArray}, "", "", "", false},
	} {
		value, err := hex.DecodeString(test.value)
		if err != nil {
			t.Fatal(err)
		}
		var got [2]string
		for i, equal := range test.of.Equal(value) {
			got[i] = hex.EncodeToString(equal)
		}
		if got != [2]string{test.plus, test.minus} || test.of.isNaN(value) != test.nan || test.of.isZero(value) != (test.plus != "" && !test.nan) {
			t.Errorf("%v %s: equal to %q, NaN %v", test.of, test.value, got, test.of.isNaN(value))
		}
	}
}
