package bloomparquet

import (
	"fmt"
	"math"

	"github.com/lanebloom/bloom"
)

// kind is what this package knows of the values of a logical type in a physical one.
type kind struct {
	class     class
	order     order
	kin       Logical      // the logical type whose values have the same bytes and the same order
	float     *floatFormat // nil if no floating-point numbers
	ambiguous bool         // whether equal values may have different bytes
	fits      bool         // whether the logical type may have the physical one
}

// class is what values are: how they are written, and what they can be converted to.
type class uint8

const (
	noClass class = iota // only bytes tell them
	ofBytes
	ofUUIDs
	ofIntegers
	ofFloats
	ofDecimals
	ofDates
	ofTimes
	ofTimestamps
)

// order is the order of a type's values.
type order uint8

const (
	noOrder order = iota // not known, or not to be relied on: bounds say nothing
	signedOrder
	unsignedOrder
	bytesOrder     // unsigned bytes
	twosComplement // big-endian, of one width
)

// kinds has the kind of each logical type in each physical one. Types that do not go together have none.
var kinds = tableOfKinds()

func tableOfKinds() (kinds [len(logicalNames)][len(physicalNames)]kind) {
	plain, integers, byteArrays, fixed := []Logical{Plain, Other}, []Physical{Int32, Int64}, []Physical{ByteArray}, []Physical{FixedLenByteArray}
	for _, row := range []struct {
		of []Logical
		in []Physical
		kind
	}{
		{plain, []Physical{Boolean, Int96}, kind{}},
		{plain, integers, kind{class: ofIntegers, order: signedOrder}},
		{plain, []Physical{Float}, kind{class: ofFloats, float: &singleFloat}},
		{plain, []Physical{Double}, kind{class: ofFloats, float: &doubleFloat}},
		{plain, byteArrays, kind{class: ofBytes, order: bytesOrder}},
		{plain, fixed, kind{class: ofBytes, order: bytesOrder}},
		{[]Logical{String, Enum, JSON, BSON}, byteArrays, kind{class: ofBytes, order: bytesOrder}},
		{[]Logical{UUID}, fixed, kind{class: ofUUIDs, order: bytesOrder, kin: UUID}},
		{[]Logical{Int}, integers, kind{class: ofIntegers, order: signedOrder}},
		{[]Logical{Uint}, integers, kind{class: ofIntegers, order: unsignedOrder, kin: Uint}},
		{[]Logical{Decimal}, integers, kind{class: ofDecimals, order: signedOrder, kin: Decimal}},
		{[]Logical{Decimal}, fixed, kind{class: ofDecimals, order: twosComplement, kin: Decimal}},
		{[]Logical{Decimal}, byteArrays, kind{class: ofDecimals, ambiguous: true, kin: Decimal}},
		{[]Logical{Date}, []Physical{Int32}, kind{class: ofDates, order: signedOrder, kin: Date}},
		{[]Logical{Time}, integers, kind{class: ofTimes, order: signedOrder, kin: Time}},
		{[]Logical{Timestamp}, []Physical{Int64}, kind{class: ofTimestamps, order: signedOrder, kin: Timestamp}},
		{[]Logical{Interval}, fixed, kind{ambiguous: true, kin: Interval}},
		{[]Logical{Float16}, fixed, kind{class: ofFloats, kin: Float16, float: &halfFloat}},
	} {
		for _, logical := range row.of {
			for _, physical := range row.in {
				k := row.kind
				k.fits = true
				if logical == Other { // written like values of the physical type; nobody knows their order
					k.order, k.kin = noOrder, Other
				}
				kinds[logical][physical] = k
			}
		}
	}
	return kinds
}

var noKind kind

// kind returns the kind of the type's values.
func (t *Type) kind() *kind {
	if int(t.Logical) >= len(kinds) || int(t.Physical) >= len(kinds[0]) {
		return &noKind
	}
	return &kinds[t.Logical][t.Physical]
}

// order returns the order that parquet-format defines for a type (ColumnOrder in parquet.thrift).
// Floats have none here: a reader cannot see whether there was a NaN among the values, and
// writers differ in what bounds these have. parquet-go v0.32.0 writes wrong ones with a dictionary.
func (t *Type) order() order { return t.kind().order }

// class returns what values can be converted to: of an unknown logical type nobody knows.
func (t *Type) class() class {
	if t.Logical == Other || t.Logical == Float16 {
		return noClass
	}
	return t.kind().class
}

func isBytes(c class) bool { return c == ofBytes || c == ofUUIDs }

// isExact reports whether the values are integers or decimals.
func (t *Type) isExact() bool {
	class := t.class()
	return class == ofIntegers || class == ofDecimals
}

func (t *Type) isUnsigned() bool { return t.kind().order == unsignedOrder }

func (t Type) isFloat() bool { return t.kind().float != nil }

// widestNumber is how many bytes a decimal may have whose bytes are made from a number. The widest
// decimals that other programs compute with have 32, and a footer may claim 2^31 - 1.
const widestNumber = 256

// isWide reports whether the type is of such decimals.
func (t *Type) isWide() bool { return t.Logical == Decimal && t.Width > widestNumber }

// hasText reports whether texts tell the values: each by one encoding.
func (t *Type) hasText() bool {
	k := t.kind()
	return k.class != noClass && !k.ambiguous && !t.isWide()
}

// kin returns the type without what changes neither the meaning of a value's bytes nor their order. Keys of
// one type serve all columns of the same kin.
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

// mostKeyKind is how many characters a [bloom.KeyKind] may have.
const mostKeyKind = 32

// KeyKind returns the kind of keys that a filter file records for a column of this type. The kind is
// [bloom.KindText] for strings and for byte arrays without a logical type. Otherwise, it consists of the
// physical and the logical type, such as INT64 (TIMESTAMP MICROS UTC).
//
// Two types have the same kind if each value has the same bytes and the same meaning in both. You can use
// the [Keys] of one type with columns of any other type of the same kind. There is one exception. Times of
// day in UTC and times of day in local time have the same kind, but they need different Keys.
func (t Type) KeyKind() bloom.KeyKind {
	t = t.kin()
	if t == (Type{Physical: ByteArray}) {
		return bloom.KindText
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

// check returns an error if no value can have the type.
func (t Type) check() error {
	if !t.kind().fits || !hasParameters(&t) || t.Physical == FixedLenByteArray && t.Width < 1 {
		return fmt.Errorf("%w: the Parquet format does not allow %v", ErrType, t)
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

func hasBits(t *Type) bool {
	bits := t.bits()
	return t.Physical == Int64 && bits == 64 || t.Physical == Int32 && (bits == 8 || bits == 16 || bits == 32)
}

// hasDigits reports whether decimals of the physical type may have the type's digits, as parquet-format limits them.
func hasDigits(t *Type) bool {
	most := map[Physical]int{Int32: 9, Int64: 18, ByteArray: math.MaxInt32}[t.Physical] // the last is what the field of a footer holds
	if t.Physical == FixedLenByteArray {
		most = maxDigits(t.Width)
	}
	return t.Precision > 0 && t.Precision <= most && t.Scale >= 0 && t.Scale <= t.Precision
}

// maxDigits returns the most digits such that every number of them fits into the bytes, with a sign:
// floor(log10(2^(8·width−1) − 1)), but no more than a footer can say.
func maxDigits(width int) int {
	return int(min(math.Floor((8*float64(width)-1)*(math.Ln2/math.Ln10)), math.MaxInt32))
}

// hasTimeUnit reports whether times of day have the unit: those in 32 bits have milliseconds, and others have
// others.
func hasTimeUnit(t *Type) bool { return hasUnit(t) && (t.Physical == Int32) == (t.Unit == Millis) }

func hasUnit(t *Type) bool { return t.Unit > NoUnit && t.Unit <= Nanos }
