package bloomsst

// How tables and MANIFESTs store user keys: with a tag, and some with a timestamp.

// storedKey is a user key as a data block stores it: with its timestamp, if the database has timestamps.
type storedKey struct {
	key    []byte
	prefix int // how long the prefix is that Pebble's Split returned when the table was written, or -1
}

// isSplit reports whether Pebble's Split has cut the key.
func (k storedKey) isSplit() bool { return k.prefix >= 0 && k.prefix < len(k.key) }

const tagSize = 8

// userKey returns a key without its tag.
func userKey(key []byte) []byte { return key[:max(len(key)-tagSize, 0)] }

// newest is the tag of keys that mark a place between two entries and are no entry themselves: the highest sequence number, without
// the kind. A database looks for the entries of a key from its newest on, and never for this tag.
const newest = 1<<56 - 1
