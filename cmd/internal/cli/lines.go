package cli

import "github.com/lanebloom/bloom/cmd/internal/records"

// LineFlags say how the commands read keys, or the records that keys are in.
type LineFlags struct {
	Null     bool `short:"0" xor:"null" help:"Keys end with a NUL byte instead of a newline."`
	NullData bool `short:"z" xor:"null-data" help:"Same as --null, for users of grep."`
	CRLF     bool `name:"crlf" xor:"null,null-data" help:"Remove a carriage return before the newline from each key, and a byte-order mark from the first key."`

	MaxRecord    ByteSize `placeholder:"SIZE" help:"Refuse lines and records that are longer than this (default 64MiB)."`
	NoDecompress bool     `help:"Read files of keys as they are, even if they look compressed or do not look like keys."`
}

// Options returns what the flags say.
func (f LineFlags) Options() records.Options {
	return records.Options{Null: f.Null || f.NullData, CRLF: f.CRLF, MaxRecord: uint64(f.MaxRecord), NoDecompress: f.NoDecompress}
}
