package bloomparquet

import (
	"fmt"
	"strconv"
)

// Physical is the physical type of a column, which determines how its values are stored. The numbers are
// the same as in parquet.thrift.
type Physical uint8

// The physical types.
const (
	Boolean Physical = iota
	Int32
	Int64
	Int96
	Float
	Double
	ByteArray
	FixedLenByteArray
)

var physicalNames = [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

func (p Physical) String() string {
	if int(p) < len(physicalNames) {
		return physicalNames[p]
	}
	return fmt.Sprintf("physical type %d", uint8(p))
}

// Logical is the logical type of a column, which determines what its values mean.
type Logical uint8

// The logical types.
const (
	Plain Logical = iota // no logical type
	String
	Enum
	JSON
	BSON
	UUID
	Int  // signed
	Uint // unsigned
	Decimal
	Date
	Time
	Timestamp
	Interval
	Float16
	Other // a logical type that this package does not know; its values have no order
)

var logicalNames = [...]string{"", "STRING", "ENUM", "JSON", "BSON", "UUID", "INT", "UINT", "DECIMAL", "DATE", "TIME", "TIMESTAMP", "INTERVAL", "FLOAT16", "other"}

func (l Logical) String() string {
	if int(l) < len(logicalNames) {
		return logicalNames[l]
	}
	return fmt.Sprintf("logical type %d", uint8(l))
}

// Unit is the unit of a time of day or a timestamp.
type Unit uint8

// The units. A type without a unit has NoUnit.
const (
	NoUnit Unit = iota
	Millis
	Micros
	Nanos
)

var unitNames = [...]string{"", "MILLIS", "MICROS", "NANOS"}

// perSecond is how many of a unit are a second.
var perSecond = [...]int64{1, 1e3, 1e6, 1e9}

func (u Unit) String() string {
	if int(u) < len(unitNames) {
		return unitNames[u]
	}
	return fmt.Sprintf("unit %d", uint8(u))
}

// Type is the physical and logical type of a column. It determines the bytes of a key, because a key is a
// value in Parquet's PLAIN encoding, without a length prefix.
type Type struct {
	Physical         Physical
	Logical          Logical
	Width            int  // for FixedLenByteArray: the number of bytes
	Bits             int  // for Int and Uint: 8, 16, 32 or 64; 0 means the width of the physical type
	Unit             Unit // for Time and Timestamp
	UTC              bool // for Time and Timestamp: whether values are in UTC, not in local time
	Precision, Scale int  // for Decimal: the total number of digits, and the number after the point
}

// String returns the type in the form that messages use, such as INT64 (TIMESTAMP MICROS UTC).
func (t Type) String() string {
	physical := t.Physical.String()
	if t.Physical == FixedLenByteArray {
		physical += fmt.Sprintf("[%d]", t.Width)
	}
	parameters := ""
	switch t.Logical {
	case Int, Uint:
		parameters = strconv.Itoa(t.bits())
	case Decimal:
		parameters = fmt.Sprintf(" %d, %d", t.Precision, t.Scale)
	case Time, Timestamp:
		parameters = fmt.Sprintf(" %v %s", t.Unit, t.zone())
	}
	return t.withLogical(physical, parameters)
}

// withLogical returns the text of a physical type with that of the logical type and its parameters.
func (t Type) withLogical(physical, parameters string) string {
	if t.Logical == Plain {
		return physical
	}
	return fmt.Sprintf("%s (%v%s)", physical, t.Logical, parameters)
}

func (t Type) zone() string {
	if t.UTC {
		return "UTC"
	}
	return "LOCAL"
}

// bits returns how many bits an integer of the type has.
func (t Type) bits() int {
	switch {
	case t.Bits != 0 && (t.Logical == Int || t.Logical == Uint):
		return t.Bits
	case t.Physical == Int64:
		return 64
	}
	return 32
}

// widths has how many bytes all values of a physical type have, if they have as many.
var widths = [len(physicalNames)]int{Int32: 4, Int64: 8, Int96: 12, Float: 4, Double: 8}

// width returns how many bytes every value of the type has, or 0 if they differ.
func (t Type) width() int {
	switch {
	case t.Physical == FixedLenByteArray:
		return t.Width
	case int(t.Physical) < len(widths):
		return widths[t.Physical]
	}
	return 0
}
