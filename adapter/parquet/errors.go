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
	// ErrHeader: there is no filter header at the place that the footer names.
	ErrHeader = errors.New("parquet: no header of a Bloom filter")
	// ErrAlgorithm: the filter does not consist of split blocks.
	ErrAlgorithm = errors.New("parquet: unknown algorithm of a Bloom filter")
	// ErrHash: the keys of the filter were not hashed with XXH64.
	ErrHash = errors.New("parquet: unknown hash of a Bloom filter")
	// ErrCompression: the filter is compressed. parquet-go has an option for that; the format does not allow
	// it.
	ErrCompression = errors.New("parquet: compressed Bloom filter")
	// ErrSize: the size in the header is not a multiple of 32 bytes, or differs from the size in the footer.
	ErrSize = errors.New("parquet: wrong size of a Bloom filter")
	// ErrTruncated: the filter extends beyond the end of the file.
	ErrTruncated = errors.New("parquet: truncated Bloom filter")
	// ErrOverlap: the filters of two row groups overlap.
	ErrOverlap = errors.New("parquet: overlapping Bloom filters")
	// ErrIncomplete: the filter lacks values, or may lack some. It is empty; or a value of the dictionary is
	// not in it; or the column continued after a dictionary in a different encoding, and its writer is not
	// known to add all values.
	ErrIncomplete = errors.New("parquet: incomplete Bloom filter")
	// ErrEncrypted: the column is encrypted, and so are its filters.
	ErrEncrypted = errors.New("parquet: encrypted Bloom filter")
)

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
