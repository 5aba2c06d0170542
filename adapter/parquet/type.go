package bloomparquet

import (
	"fmt"
	"math"
	"strconv"

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
	physical := t.Physical.String()
	if t.Physical == FixedLenByteArray {
		physical = fmt.Sprintf("FIXED[%d]", t.Width)
	}
	parameters := "" // those that change what a value's bytes mean
	switch t.Logical {
	case Decimal:
		parameters = fmt.Sprintf(" %d", t.Scale)
	case Time:
		parameters = fmt.Sprintf(" %v", t.Unit)
	case Timestamp:
		parameters = fmt.Sprintf(" %v %s", t.Unit, t.zone())
	}
	s := t.withLogical(physical, parameters)
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

// maxDigits returns the most digits of which every number fits into the bytes, with a sign: floor(log10(2^(8·width−1) − 1)), but no
// more than a footer can say.
func maxDigits(width int) int {
	return int(min(math.Floor((8*float64(width)-1)*(math.Ln2/math.Ln10)), math.MaxInt32))
}

// hasDigits reports whether decimals of the physical type may have so many digits, as parquet-format limits them.
func hasDigits(t *Type) bool {
	most := map[Physical]int{Int32: 9, Int64: 18, ByteArray: math.MaxInt32}[t.Physical] // the last is what the field of a footer holds
	if t.Physical == FixedLenByteArray {
		most = maxDigits(t.Width)
	}
	return t.Precision > 0 && t.Precision <= most && t.Scale >= 0 && t.Scale <= t.Precision
}

func hasBits(t *Type) bool {
	bits := t.bits()
	return t.Physical == Int64 && bits == 64 || t.Physical == Int32 && (bits == 8 || bits == 16 || bits == 32)
}

func hasUnit(t *Type) bool { return t.Unit > NoUnit && t.Unit <= Nanos }

// hasTimeUnit reports whether times of day have the unit: those in 32 bits have milliseconds, and others have others.
func hasTimeUnit(t *Type) bool { return hasUnit(t) && (t.Physical == Int32) == (t.Unit == Millis) }

// check returns an error if no value can have the type.
func (t Type) check() error {
	if !t.kind().fits || !hasParameters(&t) || t.Physical == FixedLenByteArray && t.Width < 1 {
		return fmt.Errorf("%w: no value can be %v", ErrType, t)
	}
	return nil
}

// hasParameters reports whether values can have the parameters of the logical type.
func hasParameters(t *Type) bool {
	switch t.Logical {
	case UUID:
		return t.Width == 16
	case Interval:
		return t.Width == 12
	case Float16:
		return t.Width == 2
	case Int, Uint:
		return hasBits(t)
	case Decimal:
		return hasDigits(t)
	case Time:
		return hasTimeUnit(t)
	case Timestamp:
		return hasUnit(t)
	}
	return true
}

// kin returns the type without what changes neither the meaning of a value's bytes nor their order. Keys of one type serve all
// columns of the same kin.
func (t Type) kin() Type {
	k := t.kind()
	kin := Type{Physical: t.Physical, Logical: k.kin}
	if t.Physical == FixedLenByteArray {
		kin.Width = t.Width
	}
	if k.kin == Decimal {
		kin.Scale = t.Scale
	}
	if k.kin == Time || k.kin == Timestamp {
		kin.Unit, kin.UTC = t.Unit, t.UTC
	}
	return kin
}

// Example returns a text that tells a value of the type to [ParseKeys], or "" if it takes bytes of some length, or none.
func (t Type) Example() string {
	example := t.kind().example
	if t.Logical == Timestamp && t.UTC {
		example += "Z"
	}
	return example
}

// IsNumber reports whether the values are numbers, which may be NaN or infinite.
func (t Type) IsNumber() bool { return t.isExact() || t.IsFloat() || t.Logical == Decimal }
