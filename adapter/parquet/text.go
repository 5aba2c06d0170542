package bloomparquet

import (
	"encoding/hex"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// appendText appends the value that a text tells, or returns why it tells none.
func appendText(dst []byte, t *Type, v []byte) ([]byte, refusal) {
	if t.Physical == ByteArray { // without a copy
		return append(dst, v...), refusal{}
	}
	text := string(v)
	switch t.kind().class {
	case ofIntegers:
		if t.isUnsigned() {
			return parseUnsigned(dst, t, text)
		}
		return parseInteger(dst, t, text)
	case ofFloats:
		return parseFloat(dst, t, text)
	case ofDecimals:
		return parseDecimal(dst, t, text)
	case ofUUIDs:
		return parseUUID(dst, text)
	case ofDates:
		return parseDate(dst, t, text)
	case ofTimes:
		return parseTime(dst, t, text)
	case ofTimestamps:
		return parseTimestamp(dst, t, text)
	}
	return appendPlain(dst, t, text)
}

func parseInteger(dst []byte, t *Type, text string) ([]byte, refusal) {
	x, err := strconv.ParseInt(wholePart(text), 10, t.bits())
	if err != nil {
		return dst, noNumber(err, "it is not a signed "+strconv.Itoa(t.bits())+"-bit integer")
	}
	return t.appendInteger(dst, x)
}

func parseUnsigned(dst []byte, t *Type, text string) ([]byte, refusal) {
	whole := wholePart(text)
	x, err := strconv.ParseUint(whole, 10, t.bits())
	if digits, minus := strings.CutPrefix(whole, "-"); minus && strings.Trim(digits, "0") != "" && strings.Trim(digits, "0123456789") == "" {
		return dst, refusal{negative, ""}
	}
	if err != nil {
		return dst, noNumber(err, "it is not an unsigned "+strconv.Itoa(t.bits())+"-bit integer")
	}
	return appendUnsigned(dst, t, x)
}

// wholePart returns a number without zeros after the point: pandas writes 5.0 for the integer 5 in a column
// with nulls.
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

// noNumber returns why a text is no number of a column.
func noNumber(err error, syntax string) refusal {
	if errors.Is(err, strconv.ErrRange) {
		return refusal{outOfRange, "the column"}
	}
	return mistake(syntax)
}

func parseFloat(dst []byte, t *Type, text string) ([]byte, refusal) {
	if strings.ContainsAny(text, "_xX") { // numbers of Go's source: 1_0, 0x1p1
		return dst, mistake("it is not a number")
	}
	x, err := strconv.ParseFloat(text, t.kind().float.digits)
	if err != nil {
		return dst, noNumber(err, "it is not a number")
	}
	return appendFloat(dst, t, x)
}

// parseDecimal appends a number such as -12.50. Digits beyond the scale must be zeros.
func parseDecimal(dst []byte, t *Type, text string) ([]byte, refusal) {
	syntax := "it is not a decimal number such as -12.50"
	if t.Scale < 1 || t.Precision-t.Scale < 2 {
		syntax = "it is not a decimal number such as 0" // which each type has
	}
	digits := strings.TrimLeft(text, "+-")
	if len(text)-len(digits) > 1 {
		return dst, mistake(syntax)
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	if whole+fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return dst, mistake(syntax)
	}
	fraction = strings.TrimRight(fraction, "0")
	whole = strings.TrimLeft(whole, "0")
	switch {
	case len(fraction) > t.Scale:
		return dst, refusal{tooManyDigits, strconv.Itoa(t.Scale) + " digits after the point"}
	case len(whole) > t.Precision-t.Scale:
		return dst, refusal{tooManyDigits, strconv.Itoa(t.Precision-t.Scale) + " digits before the point"}
	}
	x, ok := new(big.Int).SetString("0"+whole+fraction+strings.Repeat("0", t.Scale-len(fraction)), 10)
	if !ok {
		return dst, mistake(syntax)
	}
	if strings.HasPrefix(text, "-") {
		x.Neg(x)
	}
	return appendBig(dst, t, x)
}

func parseUUID(dst []byte, text string) ([]byte, refusal) {
	const syntax = "it is not a UUID such as 01234567-89ab-cdef-0123-456789abcdef"
	if inner, braced := strings.CutPrefix(text, "{"); braced && strings.HasSuffix(inner, "}") { // as Windows writes them
		text = inner[:len(inner)-1]
	}
	if b, err := hex.DecodeString(text); err == nil && len(b) == 16 { // without dashes
		return append(dst, b...), refusal{}
	}
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return dst, mistake(syntax)
	}
	b, err := hex.DecodeString(text[:8] + text[9:13] + text[14:18] + text[19:23] + text[24:])
	if err != nil {
		return dst, mistake(syntax)
	}
	return append(dst, b...), refusal{}
}

var tooFineTime = refusal{tooManyDigits, "9 digits after the point"}

// parseTimestamp appends a date with a time. A fraction of a second may follow any layout.
func parseTimestamp(dst []byte, t *Type, text string) ([]byte, refusal) {
	if tooFine(text) {
		return dst, tooFineTime
	}
	for _, layout := range []string{"2006-01-02T15:04:05", time.DateTime} {
		if x, err := time.Parse(layout, text); err == nil {
			return appendTime(dst, t, x)
		}
		for _, offset := range []string{"Z07:00", "Z07", "Z0700", " UTC"} {
			switch x, err := time.Parse(layout+offset, text); {
			case err == nil && !t.UTC:
				return dst, mistake("it has an offset from UTC, but the column has local times")
			case err == nil:
				return appendTime(dst, t, x)
			}
		}
	}
	if !t.UTC {
		return dst, mistake("it is not a time such as 2006-01-02T15:04:05")
	}
	return dst, mistake("it is not a time such as 2006-01-02T15:04:05Z")
}

func parseDate(dst []byte, t *Type, text string) ([]byte, refusal) {
	x, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return dst, mistake("it is not a date such as " + time.DateOnly)
	}
	return appendTime(dst, t, x)
}

func parseTime(dst []byte, t *Type, text string) ([]byte, refusal) {
	if tooFine(text) {
		return dst, tooFineTime
	}
	x, err := time.Parse("15:04:05", text)
	if err != nil {
		return dst, mistake("it is not a time such as 15:04:05.999")
	}
	return appendTimeOfDay(dst, t, x.Sub(x.Truncate(24*time.Hour)))
}

// Text returns a value as text, in the form that [ParseKeys] accepts. The argument must be in PLAIN
// encoding, without a length prefix. If the argument is not a value of the type, or if the value cannot be
// written as text, Text returns the bytes in hexadecimal, with the prefix 0x. It formats decimals in
// BYTE_ARRAY as numbers, although ParseKeys does not accept them.
func (t Type) Text(value []byte) string {
	if width := t.width(); width > 0 && len(value) != width {
		return hexText(value)
	}
	switch t.kind().class {
	case ofBytes:
		return string(value)
	case ofUUIDs:
		return uuidText(value)
	case ofIntegers:
		return integerText(&t, value)
	case ofFloats:
		return floatText(&t, value)
	case ofDecimals:
		return decimalText(&t, value)
	case ofDates:
		return dateText(&t, value)
	case ofTimes:
		return timeText(&t, value)
	case ofTimestamps:
		return timestampText(&t, value)
	}
	return hexText(value)
}

func hexText(value []byte) string { return "0x" + hex.EncodeToString(value) }

func uuidText(value []byte) string {
	h := hex.EncodeToString(value)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func integerText(t *Type, value []byte) string {
	if t.isUnsigned() {
		return strconv.FormatUint(uint64(t.word(value)), 10)
	}
	return strconv.FormatInt(t.word(value), 10)
}

func floatText(t *Type, value []byte) string {
	f := t.kind().float
	return strconv.FormatFloat(f.number(value), 'g', -1, f.digits)
}

const secondsOfDay = 24 * 60 * 60

func dateText(t *Type, value []byte) string {
	return timeIn(time.DateOnly, t.word(value)*secondsOfDay, 0, value)
}

func timeText(t *Type, value []byte) string {
	seconds, nanos := t.seconds(value)
	if seconds < 0 || nanos < 0 || seconds >= secondsOfDay {
		return hexText(value)
	}
	return timeIn("15:04:05.999999999", seconds, nanos, value)
}

func timestampText(t *Type, value []byte) string {
	layout := "2006-01-02T15:04:05.999999999"
	if t.UTC {
		layout += "Z"
	}
	seconds, nanos := t.seconds(value)
	return timeIn(layout, seconds, nanos, value)
}

// seconds returns the seconds and nanoseconds that a value is.
func (t *Type) seconds(value []byte) (seconds, nanos int64) {
	x, per := t.word(value), perSecond[t.Unit]
	return x / per, x % per * (1e9 / per)
}

// timeIn returns the text of a time since 1970, or that of the value if the year has no four digits.
func timeIn(layout string, seconds, nanos int64, value []byte) string {
	at := time.Unix(seconds, nanos).UTC()
	if at.Year() < 0 || at.Year() > 9999 {
		return hexText(value)
	}
	return at.Format(layout)
}

func decimalText(t *Type, value []byte) string {
	if len(value) == 0 || len(value) > widestNumber {
		return hexText(value)
	}
	x := t.unscaled(value)
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
