package bloomparquet

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lanebloom/bloom"
)

// These errors explain why the filter of a row group is not used. After such an error, you can treat every
// key within the bounds as a hit, as [Keys.Prune] does.
var (
	// ErrNoFilter means that the row group has no filter for the column.
	ErrNoFilter = errors.New("parquet: no Bloom filter")
	// ErrNoOrder means that the row group has no filter, and that its bounds cannot be used because the footer
	// does not record their order. It wraps [ErrNoFilter].
	ErrNoOrder error = noOrderError{}
	// ErrFilter means that there is no valid filter at the position that the footer records. The header may
	// be wrong, or the filter may be compressed (parquet-go has an option for this). Other reasons are a
	// size that is not a multiple of 32 bytes, a size that differs from the size in the footer, and a filter
	// that extends beyond the end of the file or into another filter.
	ErrFilter = errors.New("parquet: malformed Bloom filter")
	// ErrIncomplete means that the filter lacks values of the row group, or may lack some. For example, no
	// bit of the filter is set, or the filter lacks a value of the dictionary. A filter may also lack values
	// if some pages do not use the dictionary, and the writer is not known to add the values of such pages.
	ErrIncomplete = errors.New("parquet: incomplete Bloom filter")
	// ErrEncrypted means that the column and its filters are encrypted. [NewEmbedder] also returns
	// ErrEncrypted if the footer is encrypted or signed.
	ErrEncrypted = errors.New("parquet: encrypted Bloom filter")
)

// The kinds of ErrFilter.
const (
	errHeader      malformedError = "malformed Bloom filter header"
	errAlgorithm   malformedError = "unknown Bloom filter algorithm" // not split blocks
	errHash        malformedError = "unknown Bloom filter hash"      // not XXH64
	errCompression malformedError = "compressed Bloom filter"
	errSize        malformedError = "wrong Bloom filter size"
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

// ErrFooter means that the file does not end with a Parquet footer, or that the footer is malformed.
var ErrFooter = errors.New("parquet: malformed footer")

// ErrIndex means that the file is not an index, or that the index is damaged.
var ErrIndex = errors.New("parquet: not an index, or a damaged one")

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

// ErrType means that the type of the keys does not match the type of the column, that the Parquet format does
// not allow the type, or that the function does not support it.
var ErrType = errors.New("parquet: wrong column type")
