package bloomparquet

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// appendText appends the value that a text tells.
func appendText(dst []byte, t *Type, v []byte) ([]byte, string) {
	if t.Physical == ByteArray {
		return append(dst, v...), ""
	}
	text := string(v)
	if isTime := t.Logical == Time || t.Logical == Timestamp; isTime && tooFine(text) {
		return dst, whyDigits + "9 digits after the point"
	}
	switch t.Logical {
	case UUID:
		return appendUUID(dst, text)
	case Decimal:
		return appendDecimal(dst, t, text)
	case Date:
		return appendParsed(dst, t, text, time.DateOnly)
	case Timestamp:
		return appendTimestamp(dst, t, text)
	case Time:
		x, err := time.Parse("15:04:05", text)
		if err != nil {
			return dst, "it is no time such as 15:04:05.999"
		}
		return appendTimeOfDay(dst, t, x.Sub(x.Truncate(24*time.Hour)))
	case Uint:
		x, err := strconv.ParseUint(wholePart(text), 10, t.bits())
		if err != nil {
			return dst, whyNoNumber(err, "it is no number of "+strconv.Itoa(t.bits())+" bits without a sign")
		}
		return appendUnsigned(dst, t, x)
	case Float16:
		return appendParsedFloat(dst, t, text, 64)
	}
	switch t.Physical {
	case Float:
		return appendParsedFloat(dst, t, text, 32)
	case Double:
		return appendParsedFloat(dst, t, text, 64)
	case FixedLenByteArray:
		return appendPlain(dst, t, v)
	}
	x, err := strconv.ParseInt(wholePart(text), 10, t.bits())
	if err != nil {
		return dst, whyNoNumber(err, "it is no whole number of "+strconv.Itoa(t.bits())+" bits")
	}
	return t.appendInteger(dst, x)
}

// wholePart returns a number without zeros after the point: pandas writes 5.0 for the integer 5 in a column with nulls.
func wholePart(text string) string {
	if whole, fraction, point := strings.Cut(text, "."); point && whole != "" && fraction != "" && strings.Trim(fraction, "0") == "" {
		return whole
	}
	return text
}

// tooFine reports whether a time has more digits after the point, or the comma, than time.Parse takes: it cuts
// off the others.
func tooFine(text string) bool {
	const most = 9
	fraction := text[strings.IndexAny(text, ".,")+1:]
	return len(fraction) < len(text) && len(fraction)-len(strings.TrimLeft(fraction, "0123456789")) > most
}

// whyNoNumber tells why a text is no number of a column.
func whyNoNumber(err error, syntax string) string {
	if errors.Is(err, strconv.ErrRange) {
		return whyRange + "the column"
	}
	return syntax
}

func appendParsedFloat(dst []byte, t *Type, text string, bits int) ([]byte, string) {
	if strings.ContainsAny(text, "_xX") { // numbers of Go's source: 1_0, 0x1p1
		return dst, "it is no number"
	}
	x, err := strconv.ParseFloat(text, bits)
	if err != nil {
		return dst, whyNoNumber(err, "it is no number")
	}
	return appendFloat(dst, t, x)
}

// appendDecimal appends a number such as -12.50. Digits beyond the scale must be zeros.
func appendDecimal(dst []byte, t *Type, text string) ([]byte, string) {
	syntax := "it is no decimal number such as -12.50"
	if t.Scale < 1 || t.Precision-t.Scale < 2 {
		syntax = "it is no decimal number such as 0" // which each type has
	}
	digits := strings.TrimLeft(text, "+-")
	if len(text)-len(digits) > 1 {
		return dst, syntax
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	if whole+fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return dst, syntax
	}
	fraction = strings.TrimRight(fraction, "0")
	whole = strings.TrimLeft(whole, "0")
	switch {
	case len(fraction) > t.Scale:
		return dst, whyDigits + strconv.Itoa(t.Scale) + " digits after the point"
	case len(whole) > t.Precision-t.Scale:
		return dst, whyDigits + strconv.Itoa(t.Precision-t.Scale) + " digits before the point"
	}
	x, ok := new(big.Int).SetString("0"+whole+fraction+strings.Repeat("0", t.Scale-len(fraction)), 10)
	if !ok {
		return dst, syntax
	}
	if strings.HasPrefix(text, "-") {
		x.Neg(x)
	}
	return appendBig(dst, t, x)
}

func appendUUID(dst []byte, text string) ([]byte, string) {
	const syntax = "it is no UUID such as 01234567-89ab-cdef-0123-456789abcdef"
	if inner, braced := strings.CutPrefix(text, "{"); braced && strings.HasSuffix(inner, "}") { // as Windows writes them
		text = inner[:len(inner)-1]
	}
	if b, err := hex.DecodeString(text); err == nil && len(b) == 16 { // without dashes
		return append(dst, b...), ""
	}
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return dst, syntax
	}
	b, err := hex.DecodeString(text[:8] + text[9:13] + text[14:18] + text[19:23] + text[24:])
	if err != nil {
		return dst, syntax
	}
	return append(dst, b...), ""
}

// appendTimestamp appends a date with a time. A fraction of a second may follow any layout.
func appendTimestamp(dst []byte, t *Type, text string) ([]byte, string) {
	for _, layout := range []string{"2006-01-02T15:04:05", time.DateTime} {
		if x, err := time.Parse(layout, text); err == nil {
			return appendTime(dst, t, x)
		}
		for _, offset := range []string{"Z07:00", "Z07", "Z0700", " UTC"} {
			switch x, err := time.Parse(layout+offset, text); {
			case err == nil && !t.UTC:
				return dst, "it has an offset from UTC, and the column has local times"
			case err == nil:
				return appendTime(dst, t, x)
			}
		}
	}
	if !t.UTC {
		return dst, "it is no time such as 2006-01-02T15:04:05"
	}
	return dst, "it is no time such as 2006-01-02T15:04:05Z"
}

func appendParsed(dst []byte, t *Type, text, layout string) ([]byte, string) {
	x, err := time.Parse(layout, text)
	if err != nil {
		return dst, "it is no date such as " + layout
	}
	return appendTime(dst, t, x)
}

// Text returns the text of a value, PLAIN bytes without a length, as [ParseKeys] takes it. Bytes that
// are no value of the type, and times that no text tells, are in hex after 0x.
func (t Type) Text(value []byte) string {
	if width := t.width(); width > 0 && len(value) != width {
		return "0x" + hex.EncodeToString(value)
	}
	switch {
	case t.Logical == UUID:
		h := hex.EncodeToString(value)
		return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
	case t.Physical == ByteArray, t.Physical == FixedLenByteArray && t.Logical != Decimal && t.Logical != Float16:
		return string(value)
	case t.Logical == Float16:
		return strconv.FormatFloat(halfValue(binary.LittleEndian.Uint16(value)), 'g', -1, 64)
	case t.Physical == Float:
		return strconv.FormatFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(value))), 'g', -1, 32)
	case t.Physical == Double:
		return strconv.FormatFloat(math.Float64frombits(binary.LittleEndian.Uint64(value)), 'g', -1, 64)
	case t.Physical == FixedLenByteArray && t.Logical == Decimal:
		x := new(big.Int).SetBytes(value)
		if value[0] >= 0x80 {
			x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(value))))
		}
		return t.decimalText(x)
	case t.Physical == Int32 && t.Logical == Uint:
		return strconv.FormatUint(uint64(binary.LittleEndian.Uint32(value)), 10)
	case t.Physical == Int64 && t.Logical == Uint:
		return strconv.FormatUint(binary.LittleEndian.Uint64(value), 10)
	case t.Physical == Int32:
		return t.integerText(int64(int32(binary.LittleEndian.Uint32(value))), value)
	case t.Physical == Int64:
		return t.integerText(int64(binary.LittleEndian.Uint64(value)), value)
	}
	return "0x" + hex.EncodeToString(value)
}

// integerText is Text of a signed integer.
func (t Type) integerText(x int64, value []byte) string {
	const day = 24 * 60 * 60
	per := perSecond[t.Unit]
	seconds, nanos := x/per, x%per*(1e9/per)
	layout := "15:04:05.999999999"
	switch t.Logical {
	case Decimal:
		return t.decimalText(big.NewInt(x))
	case Date:
		seconds, nanos, layout = x*day, 0, time.DateOnly
	case Timestamp:
		layout = "2006-01-02T" + layout
		if t.UTC {
			layout += "Z"
		}
	case Time:
		if x < 0 || x >= day*per {
			return "0x" + hex.EncodeToString(value)
		}
	default:
		return strconv.FormatInt(x, 10)
	}
	at := time.Unix(seconds, nanos).UTC()
	if at.Year() < 0 || at.Year() > 9999 {
		return "0x" + hex.EncodeToString(value)
	}
	return at.Format(layout)
}

// decimalText is Text of an unscaled value.
func (t Type) decimalText(x *big.Int) string {
	digits := new(big.Int).Abs(x).String()
	if missing := t.Scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - t.Scale
	if t.Scale > 0 {
		digits = digits[:point] + "." + digits[point:]
	}
	if x.Sign() < 0 {
		return "-" + digits
	}
	return digits
}
