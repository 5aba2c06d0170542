package bloomparquet

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lanebloom/bloom"
)

// What can be wrong with the filter of a row group. None of these is a reason to fail: the row
// group may then hold every key.
var (
	// ErrNoFilter: the row group has no filter of the column.
	ErrNoFilter = errors.New("parquet: no Bloom filter")
	// ErrNoOrder is an [ErrNoFilter] of a row group that has bounds which cannot be used either, because the
	// footer does not record their order.
	ErrNoOrder error = noOrderError{}
	// ErrFilter: there is no filter of the format at the place that the footer names. Its header is a
	// different one; or it is compressed, for which parquet-go has an option; or its size is not a multiple
	// of 32 bytes, or differs from the size in the footer; or it extends beyond the end of the file or into
	// another filter.
	ErrFilter = errors.New("parquet: malformed Bloom filter")
	// ErrIncomplete: the filter lacks values, or may lack some. It is empty; or a value of the dictionary is
	// not in it; or the column continued after a dictionary in a different encoding, and its writer is not
	// known to add all values.
	ErrIncomplete = errors.New("parquet: incomplete Bloom filter")
	// ErrEncrypted: the column is encrypted, and so are its filters.
	ErrEncrypted = errors.New("parquet: encrypted Bloom filter")
)

// The kinds of ErrFilter.
const (
	errHeader      malformedError = "no header of a Bloom filter"
	errAlgorithm   malformedError = "unknown algorithm of a Bloom filter" // no split blocks
	errHash        malformedError = "unknown hash of a Bloom filter"      // not XXH64
	errCompression malformedError = "compressed Bloom filter"
	errSize        malformedError = "wrong size of a Bloom filter"
	errTruncated   malformedError = "truncated Bloom filter"
	errOverlap     malformedError = "overlapping Bloom filters"
)

// malformedError is an ErrFilter.
type malformedError string

func (e malformedError) Error() string { return "parquet: " + string(e) }
func (e malformedError) Unwrap() error { return ErrFilter }

type noOrderError struct{}

func (noOrderError) Error() string { return "parquet: bounds without an order" }
func (noOrderError) Unwrap() error { return ErrNoFilter }

// ErrFooter: the file does not end with a Parquet footer, or the footer is malformed.
var ErrFooter = errors.New("parquet: malformed footer")

// ErrIndex: the file is not an index, or is a damaged one.
var ErrIndex = errors.New("parquet: no index, or a damaged one")

// errIndex makes an ErrIndex of an error of package bloom.
func errIndex(err error) error {
	if errors.Is(err, bloom.ErrEncoding) || errors.Is(err, bloom.ErrFormat) {
		return fmt.Errorf("%w: %w", ErrIndex, inner{err})
	}
	return err
}

// inner is an error of package bloom whose text does not name the package.
type inner struct{ error }

func (e inner) Error() string { return strings.TrimPrefix(e.error.Error(), "bloom: ") }
func (e inner) Unwrap() error { return e.error }

// ErrType: the types of keys and column do not match, or a type has no filters or no keys.
var ErrType = errors.New("parquet: wrong type of a column")
