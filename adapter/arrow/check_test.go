package bloomarrow

import (
	"context"
	"errors"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// nested returns three rows of an array that has children.
func nested(t arrow.DataType, children []arrow.ArrayData, buffers ...[]byte) arrow.ArrayData {
	all := []*memory.Buffer{nil}
	for _, b := range buffers {
		all = append(all, memory.NewBufferBytes(b))
	}
	return array.NewData(t, 3, all, children, 0, 0)
}

// TestMalformedColumns filters batches with a malformed column that is not tested. arrow-go's Take
// would panic on a goroutine of its own, which ends the test.
func TestMalformedColumns(t *testing.T) {
	text, long := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64
	jumps := raw(text, 3, 0, nil, int32s(0, 1<<30, 1<<30, 2), []byte("ab")) // the last offset is good
	back := raw(text, 3, 0, nil, int32s(0, 2, 0, 2), []byte("ab"))
	union := []arrow.Field{{Name: "a", Type: long}, {Name: "b", Type: text}}
	codes := []arrow.UnionTypeCode{3, 7}
	child := []arrow.ArrayData{longs(3), raw(text, 3, 0, nil, int32s(0, 1, 2, 2), []byte("ab"))}
	for name, data := range map[string]arrow.ArrayData{
		"offsets outside":           jumps,
		"offsets decrease":          back,
		"offset negative":           raw(text, 3, 0, nil, int32s(0, -5, 1, 2), []byte("ab")),
		"large offsets":             raw(arrow.BinaryTypes.LargeBinary, 3, 0, nil, int32s(0, 0, 0, 1, 0, 0, 2, 0), []byte("ab")),
		"bytes short":               raw(&arrow.FixedSizeBinaryType{ByteWidth: 5}, 3, 0, nil, make([]byte, 14)),
		"integers short":            raw(long, 3, 0, nil, make([]byte, 23)),
		"bitmap short":              raw(long, 3, 7, make([]byte, 1), make([]byte, 80)),
		"view outside":              raw(arrow.BinaryTypes.StringView, 3, 0, nil, append(int32s(20, 0, 0, 9), make([]byte, 32)...), make([]byte, 20)),
		"index outside":             rawDictionary(arrow.PrimitiveTypes.Int32, int32s(0, 7, 1), 3, 0, twoStrings),
		"dictionary of bad strings": rawDictionary(arrow.PrimitiveTypes.Int32, int32s(0, 1, 0), 3, 0, raw(text, 2, 0, nil, int32s(0, 9, 2), []byte("ab"))),
		"struct of bad strings":     nested(arrow.StructOf(arrow.Field{Name: "x", Type: text}), []arrow.ArrayData{jumps}),
		"list outside":              nested(arrow.ListOf(long), []arrow.ArrayData{longs(2)}, int32s(0, 1<<20, 1, 2)),
		"list of bad strings":       nested(arrow.ListOf(text), []arrow.ArrayData{jumps}, int32s(0, 1, 2, 3)),
		"list of many nulls":        nested(arrow.ListOf(arrow.Null), []arrow.ArrayData{raw(arrow.Null, 1<<31-1, 0)}, int32s(0, 1<<31-1, 1<<31-1, 1<<31-1)),
		"short lists":               nested(arrow.FixedSizeListOf(2, long), []arrow.ArrayData{longs(5)}),
		"type of no field":          nested(arrow.DenseUnionOf(union, codes), child, []byte{3, 5, 7}, int32s(0, 0, 0)),
		"type negative":             nested(arrow.DenseUnionOf(union, codes), child, []byte{3, 0x85, 7}, int32s(0, 0, 0)),
		"value of no row":           nested(arrow.DenseUnionOf(union, codes), child, []byte{3, 3, 7}, int32s(0, 3, 0)),
		"runs of bad strings":       array.NewData(arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, text), 3, []*memory.Buffer{nil}, []arrow.ArrayData{ends(1, 2, 3), jumps}, 0, 0),
	} {
		var column arrow.Array
		if panics(func() { column = array.MakeFromData(data) }) {
			continue // arrow-go refuses it itself
		}
		numbers := array.MakeFromData(longs(3))
		batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "k", Type: long}, {Name: "c", Type: column.DataType(), Nullable: true}}, nil), []arrow.Array{numbers, column}, 3)
		_, filter := someKeys(numbers)
		if _, err := FilterRecordBatch(context.Background(), filter, batch, 0); !errors.Is(err, ErrArray) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
