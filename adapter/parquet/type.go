package bloomparquet

import (
	"fmt"
	"math"

	"github.com/lanebloom/bloom"
)

// Physical is how a column stores its values. The numbers are those of parquet.thrift.
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

// Logical is what the values of a column mean.
type Logical uint8

// The logical types.
const (
	Plain Logical = iota // the physical type says it all
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
	Other // a type that this package does not know: its values are bytes without an order
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

// The units. A value without one has NoUnit.
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

// Type is the type of a column, physical and logical. It decides what the bytes of a key are:
// those of the value in Parquet's PLAIN encoding, without a length.
type Type struct {
	Physical         Physical
	Logical          Logical
	Width            int  // of FixedLenByteArray, in bytes
	Bits             int  // of Int and Uint: 8, 16, 32 or 64; 0 is the width of the physical type
	Unit             Unit // of Time and Timestamp
	UTC              bool // of Time and Timestamp: whether values are instants, and not local times
	Precision, Scale int  // of Decimal, in decimal digits
}

// String returns the type as messages show it, such as INT64 (TIMESTAMP MICROS UTC).
func (t Type) String() string {
	s := t.Physical.String()
	if t.Physical == FixedLenByteArray {
		s += fmt.Sprintf("[%d]", t.Width)
	}
	switch t.Logical {
	case Plain:
		return s
	case Int, Uint:
		return fmt.Sprintf("%s (%v%d)", s, t.Logical, t.bits())
	case Decimal:
		return fmt.Sprintf("%s (DECIMAL %d, %d)", s, t.Precision, t.Scale)
	case Time, Timestamp:
		zone := "LOCAL"
		if t.UTC {
			zone = "UTC"
		}
		return fmt.Sprintf("%s (%v %v %s)", s, t.Logical, t.Unit, zone)
	}
	return fmt.Sprintf("%s (%v)", s, t.Logical)
}

// mostKeyKind is how many characters a [bloom.KeyKind] may have.
const mostKeyKind = 32

// KeyKind returns what kind of keys a filter of such a column has, for its file: text for strings and
// for byte arrays without a meaning, and else the physical and the logical type, such as
// INT64 (TIMESTAMP MICROS UTC). It is the same for all types in which equal values have the same
// meaning and the same bytes: those whose [Keys] serve each other's columns, and those of times
// of day in UTC and in a local zone.
func (t Type) KeyKind() bloom.KeyKind {
	t = t.kin()
	if t == (Type{Physical: ByteArray}) {
		return bloom.KeysText
	}
	s := t.Physical.String()
	if t.Physical == FixedLenByteArray {
		s = fmt.Sprintf("FIXED[%d]", t.Width)
	}
	switch t.Logical {
	case Plain:
	case Decimal:
		s += fmt.Sprintf(" (DECIMAL %d)", t.Scale)
	case Time:
		s += fmt.Sprintf(" (TIME %v)", t.Unit)
	case Timestamp:
		s = t.String()
	default:
		s += fmt.Sprintf(" (%v)", t.Logical)
	}
	return bloom.KeyKind(s[:min(len(s), mostKeyKind)]) // of a decimal of gigabytes, the end is missing
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

// width returns how many bytes every value of the type has, or 0 if they differ.
func (t Type) width() int {
	switch t.Physical {
	case Int32, Float:
		return 4
	case Int64, Double:
		return 8
	case Int96:
		return 12
	case FixedLenByteArray:
		return t.Width
	}
	return 0
}

// maxPrecision returns how many digits decimals of the physical type may have, as parquet-format
// limits them.
func (t Type) maxPrecision() int {
	switch t.Physical {
	case Int32:
		return 9
	case Int64:
		return 18
	case ByteArray:
		return math.MaxInt32 // what the field of a footer holds
	case FixedLenByteArray:
		return maxDigits(t.Width)
	}
	return 0
}

// maxDigits returns of how many digits every number fits into bytes with a sign:
// floor(log10(2^(8·width−1) − 1)), but no more than a footer can say.
func maxDigits(width int) int {
	return int(min(math.Floor((8*float64(width)-1)*(math.Ln2/math.Ln10)), math.MaxInt32))
}

// check returns an error if no value can have the type.
func (t Type) check() error {
	fits := true
	switch t.Logical {
	case String, Enum, JSON, BSON:
		fits = t.Physical == ByteArray
	case UUID:
		fits = t.Physical == FixedLenByteArray && t.Width == 16
	case Int, Uint:
		fits = t.Physical == Int64 && t.bits() == 64 ||
			t.Physical == Int32 && (t.bits() == 8 || t.bits() == 16 || t.bits() == 32)
	case Decimal:
		fits = t.Precision > 0 && t.Precision <= t.maxPrecision() && t.Scale >= 0 && t.Scale <= t.Precision
	case Date:
		fits = t.Physical == Int32
	case Time:
		fits = t.Physical == Int32 && t.Unit == Millis || t.Physical == Int64 && (t.Unit == Micros || t.Unit == Nanos)
	case Timestamp:
		fits = t.Physical == Int64 && t.Unit != NoUnit && t.Unit <= Nanos
	case Interval:
		fits = t.Physical == FixedLenByteArray && t.Width == 12
	case Float16:
		fits = t.Physical == FixedLenByteArray && t.Width == 2
	}
	if !fits || t.Logical > Other || t.Physical > FixedLenByteArray || t.Physical == FixedLenByteArray && t.Width < 1 {
		return fmt.Errorf("%w: no value can be %v", ErrType, t)
	}
	return nil
}

// kin returns the type with what does not change the meaning of a value's bytes or their
// order left out. Keys of one type serve all columns of the same kin.
func (t Type) kin() Type {
	switch t.Logical {
	case String, Enum, JSON, BSON:
		return Type{Physical: ByteArray}
	case UUID, Interval, Float16, Other:
		return Type{Physical: t.Physical, Logical: t.Logical, Width: t.Width}
	case Int:
		return Type{Physical: t.Physical}
	case Uint:
		return Type{Physical: t.Physical, Logical: Uint}
	case Decimal:
		return Type{Physical: t.Physical, Logical: Decimal, Width: t.Width, Scale: t.Scale}
	case Date:
		return Type{Physical: Int32, Logical: Date}
	case Time, Timestamp:
		return Type{Physical: t.Physical, Logical: t.Logical, Unit: t.Unit, UTC: t.UTC}
	}
	return Type{Physical: t.Physical, Width: t.Width}
}
