package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/internal/filterfile"
)

// Rate is a false-positive rate: a share such as 0.01, or a percentage such as 1%.
type Rate float64

// UnmarshalText reads a rate. Whether a filter can have it is for the library to say.
func (r *Rate) UnmarshalText(text []byte) error {
	number, percent := strings.CutSuffix(string(text), "%")
	value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("the rate must be a number such as 0.01 or 1%%, not %q", text)
	}
	if percent {
		value /= 100
	}
	*r = Rate(value)
	return nil
}

// ByteSize is a number of bytes, such as 64MiB.
type ByteSize uint64

// UnmarshalText reads a number of bytes, which is not 0.
func (b *ByteSize) UnmarshalText(text []byte) error {
	digits, err := WithoutCommas(string(text))
	n := uint64(0)
	if err == nil {
		n, err = humanize.ParseBytes(digits)
	}
	if err != nil || n == 0 {
		return fmt.Errorf("the size must be a number of bytes such as 64MiB, not %q", text)
	}
	*b = ByteSize(n)
	return nil
}

var thousands = regexp.MustCompile(`^\d{1,3}(,\d{3})+([^,\d][^,]*)?$`)

// WithoutCommas returns a number without the commas between its thousands, as messages have them. It is an
// error if a comma stands elsewhere, because 1,5 is one and a half in many languages.
func WithoutCommas(number string) (string, error) {
	if strings.Contains(number, ",") && !thousands.MatchString(number) {
		return "", errors.New("commas may only separate thousands")
	}
	return strings.ReplaceAll(number, ",", ""), nil
}

// Format is the format of a filter, by its name in letters of any case.
type Format struct{ bloom.Format }

// UnmarshalText reads the name of a format.
func (f *Format) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		return errors.New("the value is missing")
	}
	if f.Format, err = bloom.ParseFormat(strings.ToLower(string(text))); err != nil {
		return fmt.Errorf("unknown format %q: it must be one of %s", text, FormatNames(", "))
	}
	return nil
}

// FormatNames returns a list of the names of all formats. The parameter before is the text before the last name.
func FormatNames(before string) string { return formatNames(bloom.Formats(), before) }

func formatNames(formats []bloom.Format, before string) string {
	var names []string
	for _, f := range formats {
		names = append(names, f.String())
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + before + names[last]
}

// Size are the flags that say how large a filter is.
type Size struct {
	BitsPerKey *int  `xor:"size" placeholder:"N" help:"Bits per key, 1 to 10000 (default 10)."`
	Rate       *Rate `xor:"size" placeholder:"P" help:"Largest false-positive rate, such as 0.01 or 1%."`
}

// Policy returns the policy for a filter with this number of keys.
func (s Size) Policy(format bloom.Format, keys int) (bloom.Policy, error) {
	switch {
	case s.Rate != nil:
		policy, err := bloom.PolicyFor(format, keys, float64(*s.Rate))
		if err != nil {
			return policy, fmt.Errorf("--rate: %w", filterfile.WithoutPrefix(err))
		}
		return policy, nil
	case s.BitsPerKey == nil:
		return bloom.Policy{Format: format, BitsPerKey: 10}, nil
	}
	return bloom.Policy{Format: format, BitsPerKey: *s.BitsPerKey}, CheckBitsPerKey(*s.BitsPerKey)
}

// CheckBitsPerKey bounds a number of bits per key.
func CheckBitsPerKey(n int) error {
	if n < 1 || n > filterfile.MostBitsPerKey {
		return fmt.Errorf("--bits-per-key must be at least 1 and at most %d, not %d", filterfile.MostBitsPerKey, n)
	}
	return nil
}
