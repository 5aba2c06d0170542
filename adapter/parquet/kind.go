package bloomparquet

// kind is what this package knows of the values of a logical type in a physical one.
type kind struct {
	class     class
	order     order
	kin       Logical      // the logical type whose values have the same bytes and the same order
	float     *floatFormat // nil if no floating-point numbers
	ambiguous bool         // whether equal values may have different bytes
	example   string       // of a text
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
		{plain, integers, kind{class: ofIntegers, order: signedOrder, example: "42"}},
		{plain, []Physical{Float}, kind{class: ofFloats, float: &singleFloat, example: "0.5"}},
		{plain, []Physical{Double}, kind{class: ofFloats, float: &doubleFloat, example: "0.5"}},
		{plain, byteArrays, kind{class: ofBytes, order: bytesOrder, example: "text"}},
		{plain, fixed, kind{class: ofBytes, order: bytesOrder}},
		{[]Logical{String, Enum, JSON, BSON}, byteArrays, kind{class: ofBytes, order: bytesOrder, example: "text"}},
		{[]Logical{UUID}, fixed, kind{class: ofUUIDs, order: bytesOrder, kin: UUID, example: "01234567-89ab-cdef-0123-456789abcdef"}},
		{[]Logical{Int}, integers, kind{class: ofIntegers, order: signedOrder, example: "42"}},
		{[]Logical{Uint}, integers, kind{class: ofIntegers, order: unsignedOrder, kin: Uint, example: "42"}},
		{[]Logical{Decimal}, integers, kind{class: ofDecimals, order: signedOrder, kin: Decimal, example: "-12.50"}},
		{[]Logical{Decimal}, fixed, kind{class: ofDecimals, order: twosComplement, kin: Decimal, example: "-12.50"}},
		{[]Logical{Decimal}, byteArrays, kind{class: ofDecimals, ambiguous: true, kin: Decimal}},
		{[]Logical{Date}, []Physical{Int32}, kind{class: ofDates, order: signedOrder, kin: Date, example: "2024-05-01"}},
		{[]Logical{Time}, integers, kind{class: ofTimes, order: signedOrder, kin: Time, example: "12:00:00"}},
		{[]Logical{Timestamp}, []Physical{Int64}, kind{class: ofTimestamps, order: signedOrder, kin: Timestamp, example: "2024-05-01T12:00:00"}},
		{[]Logical{Interval}, fixed, kind{ambiguous: true, kin: Interval}},
		{[]Logical{Float16}, fixed, kind{class: ofFloats, kin: Float16, float: &halfFloat, example: "0.5"}},
	} {
		for _, logical := range row.of {
			for _, physical := range row.in {
				k := row.kind
				k.fits = true
				if logical == Other { // values that are written as those of the physical type, of which nobody knows the order
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
