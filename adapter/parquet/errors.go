package bloomparquet

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lanebloom/bloom"
)

// These are the reasons why the filter of a row group is not used. None of them is a reason to fail: every
// key may be in the row group.
var (
	// ErrNoFilter: the row group has no filter of the column.
	ErrNoFilter = errors.New("parquet: no Bloom filter")
	// ErrNoOrder is an [ErrNoFilter] for a row group whose bounds cannot be used, either, because the footer
	// does not record their order.
	ErrNoOrder error = noOrderError{}
	// ErrFilter: the footer refers to a place where no filter of the format is. The header is a different
	// one, or the filter is compressed (parquet-go has an option for this). Or the size of the filter is not
	// a multiple of 32 bytes, or differs from the size in the footer. Or the filter extends beyond the end of
	// the file or into another filter.
	ErrFilter = errors.New("parquet: malformed Bloom filter")
	// ErrIncomplete: the filter lacks values, or may lack some. The filter is empty, or it lacks a value of
	// the dictionary. Or the column continues in a different encoding after a dictionary, and its writer is
	// not known to add all values.
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

// ErrType: the type of the keys does not match the type of the column, or a type has no filters or no keys.
var ErrType = errors.New("parquet: wrong type of a column")
