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
	// ErrNoFilter says that the row group has no filter of the column.
	ErrNoFilter = errors.New("parquet: no Bloom filter")
	// ErrNoOrder is an [ErrNoFilter] of a row group that has bounds: they cannot help either, for
	// the footer does not say in which order they are.
	ErrNoOrder error = noOrderError{}
	// ErrHeader says that there is no header of a filter where the footer says.
	ErrHeader = errors.New("parquet: no header of a Bloom filter")
	// ErrAlgorithm says that the filter has no split blocks.
	ErrAlgorithm = errors.New("parquet: unknown algorithm of a Bloom filter")
	// ErrHash says that the keys of the filter were not hashed by XXH64.
	ErrHash = errors.New("parquet: unknown hash of a Bloom filter")
	// ErrCompression says that the filter is compressed. parquet-go has an option for that;
	// the format does not.
	ErrCompression = errors.New("parquet: compressed Bloom filter")
	// ErrSize says that the size in the header is not that of blocks of 32 bytes, or
	// differs from the size in the footer.
	ErrSize = errors.New("parquet: wrong size of a Bloom filter")
	// ErrTruncated says that the filter goes beyond the end of the file.
	ErrTruncated = errors.New("parquet: truncated Bloom filter")
	// ErrOverlap says that the filters of two row groups have bytes in common.
	ErrOverlap = errors.New("parquet: overlapping Bloom filters")
	// ErrIncomplete says that the filter lacks values, or may lack some: it is empty, or a value of the dictionary is not in
	// it, or the column went over from a dictionary to another encoding, and the program that wrote it is not
	// known to put all values there.
	ErrIncomplete = errors.New("parquet: incomplete Bloom filter")
	// ErrEncrypted says that the column is encrypted, and so its filters are.
	ErrEncrypted = errors.New("parquet: encrypted Bloom filter")
)

type noOrderError struct{}

func (noOrderError) Error() string { return "parquet: bounds without an order" }
func (noOrderError) Unwrap() error { return ErrNoFilter }

// ErrFooter says that a file does not end with a footer of Parquet, or that the footer is malformed.
var ErrFooter = errors.New("parquet: malformed footer")

// ErrIndex says that a file is no index, or a damaged one.
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

// ErrType says that keys and columns have types that do not go together, or that a column has a type of which there are no filters or no
// keys.
var ErrType = errors.New("parquet: wrong type of a column")
