package bloomparquet

// kind is what this package knows of the values of a logical type in a physical one.
type kind struct {
	class   class
	order   order
	kin     Logical              // the logical type whose values have the same bytes and the same order
	valid   func(t *Type) bool   // whether values can have its parameters; nil if they always can
	shown   func(t *Type) string // its parameters in messages; nil if it has none
	key     func(t *Type) string // those that change what a value's bytes mean
	float   *floatFormat         // nil if no floating-point numbers
	parse   func(dst []byte, t *Type, text string) ([]byte, refusal)
	text    func(t *Type, value []byte) string
	example string // of a text
	fits    bool   // whether the logical type may have the physical one
}

// class is what the kinds have in common between whose values [Converter] converts.
type class uint8

const (
	noClass   class = iota
	ambiguous       // equal values may have different bytes
	ofBytes
	ofIntegers
	ofDecimals
	ofFloats
	ofTimes
	ofTimestamps
)

// kinds has the kind of each logical type in each physical one. Types that do not go together have none.
var kinds [len(logicalNames)][len(physicalNames)]kind

// The table is filled here and not where it is declared, for its functions use it. A kind without parse has values that only
// bytes tell, and one without text those that are shown in hex.
func init() {
	type row struct {
		of []Logical
		in []Physical
		kind
	}
	plain, integers, bytes, fixed := []Logical{Plain, Other}, []Physical{Int32, Int64}, []Physical{ByteArray}, []Physical{FixedLenByteArray}
	for _, row := range []row{
		{plain, []Physical{Boolean, Int96}, kind{}},
		{plain, integers, kind{class: ofIntegers, order: signedOrder, parse: parseInteger, text: integerText, example: "42"}},
		{plain, []Physical{Float}, kind{class: ofFloats, float: &singleFloat, parse: parseFloat, text: floatText, example: "0.5"}},
		{plain, []Physical{Double}, kind{class: ofFloats, float: &doubleFloat, parse: parseFloat, text: floatText, example: "0.5"}},
		{plain, bytes, kind{class: ofBytes, order: bytesOrder, parse: parseBytes, text: bytesText, example: "text"}},
		{plain, fixed, kind{class: ofBytes, order: bytesOrder, parse: parseBytes, text: bytesText}},
		{[]Logical{String, Enum, JSON, BSON}, bytes, kind{class: ofBytes, order: bytesOrder, parse: parseBytes, text: bytesText, example: "text"}},
		{[]Logical{UUID}, fixed, kind{class: ofBytes, order: bytesOrder, kin: UUID, valid: hasWidth(16), parse: parseUUID, text: uuidText, example: "01234567-89ab-cdef-0123-456789abcdef"}},
		{[]Logical{Int}, integers, kind{class: ofIntegers, order: signedOrder, valid: hasBits, shown: bitsText, parse: parseInteger, text: integerText, example: "42"}},
		{[]Logical{Uint}, integers, kind{class: ofIntegers, order: unsignedOrder, kin: Uint, valid: hasBits, shown: bitsText, parse: parseUnsigned, text: unsignedText, example: "42"}},
		{[]Logical{Decimal}, integers, kind{class: ofDecimals, order: signedOrder, kin: Decimal, valid: hasDigits, shown: digitsText, key: scaleText, parse: parseDecimal, text: decimalText, example: "-12.50"}},
		{[]Logical{Decimal}, fixed, kind{class: ofDecimals, order: twosComplement, kin: Decimal, valid: hasDigits, shown: digitsText, key: scaleText, parse: parseDecimal, text: decimalText, example: "-12.50"}},
		{[]Logical{Decimal}, bytes, kind{class: ambiguous, kin: Decimal, valid: hasDigits, shown: digitsText, key: scaleText, text: decimalText}},
		{[]Logical{Date}, []Physical{Int32}, kind{order: signedOrder, kin: Date, parse: parseDate, text: dateText, example: "2024-05-01"}},
		{[]Logical{Time}, integers, kind{class: ofTimes, order: signedOrder, kin: Time, valid: hasTimeUnit, shown: zoneText, key: unitText, parse: parseTime, text: timeText, example: "12:00:00"}},
		{[]Logical{Timestamp}, []Physical{Int64}, kind{class: ofTimestamps, order: signedOrder, kin: Timestamp, valid: hasUnit, shown: zoneText, key: zoneText, parse: parseTimestamp, text: timestampText, example: "2024-05-01T12:00:00"}},
		{[]Logical{Interval}, fixed, kind{class: ambiguous, kin: Interval, valid: hasWidth(12)}},
		{[]Logical{Float16}, fixed, kind{kin: Float16, valid: hasWidth(2), float: &halfFloat, parse: parseFloat, text: floatText, example: "0.5"}},
	} {
		for _, logical := range row.of {
			for physical := range kinds[logical] {
				kinds[logical][physical].shown = row.shown // errors show types that do not go together, too
			}
			for _, physical := range row.in {
				k := row.kind
				k.fits = true
				if logical == Other { // values as those of the physical type, of which nobody knows the order
					k.class, k.order, k.kin = noClass, noOrder, Other
				}
				kinds[logical][physical] = k
			}
		}
	}
}

var noKind kind

// kind returns the kind of the type's values.
func (t *Type) kind() *kind {
	if int(t.Logical) >= len(kinds) || int(t.Physical) >= len(kinds[0]) {
		return &noKind
	}
	return &kinds[t.Logical][t.Physical]
}
