package bloomparquet

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/lanebloom/bloom"
)

// TestKeyKind pins the kinds of keys, which files have.
func TestKeyKind(t *testing.T) {
	widest := Type{Physical: FixedLenByteArray, Width: 1<<31 - 1, Logical: Decimal, Precision: 1<<31 - 1, Scale: 1<<31 - 1}
	for _, c := range []struct {
		typ  Type
		want bloom.KeyKind
	}{
		{texts, bloom.KindText}, {Type{Physical: ByteArray}, bloom.KindText}, {Type{Physical: ByteArray, Logical: JSON}, bloom.KindText},
		{int8s, "INT32"}, {int32s, "INT32"}, {int64s, "INT64"}, {uint16s, "INT32 (UINT)"}, {uint64s, "INT64 (UINT)"},
		{floats, "FLOAT"}, {doubles, "DOUBLE"}, {float16s, "FIXED[2] (FLOAT16)"}, {Type{Physical: Boolean}, "BOOLEAN"}, {int96s, "INT96"},
		{fixed3, "FIXED[3]"}, {uuids, "FIXED[16] (UUID)"}, {intervals, "FIXED[12] (INTERVAL)"},
		{dates, "INT32 (DATE)"}, {times32, "INT32 (TIME MILLIS)"}, {times64, "INT64 (TIME NANOS)"},
		{instants, "INT64 (TIMESTAMP MILLIS UTC)"}, {locals, "INT64 (TIMESTAMP MICROS LOCAL)"}, {nanos, "INT64 (TIMESTAMP NANOS UTC)"},
		{decimals32, "INT32 (DECIMAL 2)"}, {decimals64, "INT64 (DECIMAL 0)"}, {decimalsX, "FIXED[9] (DECIMAL 5)"}, {decimalsY, "BYTE_ARRAY (DECIMAL 5)"},
		{Type{Physical: ByteArray, Logical: Other}, "BYTE_ARRAY (other)"}, {widest, "FIXED[2147483647] (DECIMAL 21474"},
	} {
		got := c.typ.KeyKind()
		if got != c.want {
			t.Errorf("%v: %q, want %q", c.typ, got, c.want)
		}
		if _, err := new(bloom.Filter).WithKeyKind(got); err != nil {
			t.Errorf("%v: %v", c.typ, err)
		}
	}
}

// TestParseValues wants the PLAIN bytes of texts, and the errors of ParseKeys.
func TestParseValues(t *testing.T) {
	for _, c := range parsed {
		_, wrong := ParseKeys(c.typ, [][]byte{[]byte(c.text)})
		values, err := parseValues(c.typ, [][]byte{[]byte(c.text)})
		if (err == nil) != (wrong == nil) || err != nil && err.Error() != wrong.Error() {
			t.Errorf("%q of %v: %v, and ParseKeys says %v", c.text, c.typ, err, wrong)
		}
		want, _ := hex.DecodeString(c.hex)
		if err == nil && (len(values) != 1 || !bytes.Equal(values[0], want)) {
			t.Errorf("%q of %v: %x, want %x", c.text, c.typ, values, want)
		}
	}
	if values, err := parseValues(texts, [][]byte{[]byte("a"), nil, []byte("bc")}); err != nil || string(bytes.Join(values, []byte("|"))) != "a||bc" {
		t.Errorf("%q, %v", values, err)
	}
	if _, err := parseValues(int96s, nil); !errors.Is(err, ErrType) {
		t.Errorf("INT96: %v", err)
	}
}
