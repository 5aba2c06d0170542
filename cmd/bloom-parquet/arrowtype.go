package main

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/adapter/arrow"
	"github.com/lanebloom/bloom/adapter/parquet"
)

// columnType is the type of a column of keys. Durations of Arrow have the type of integers, and keys of another kind.
type columnType struct {
	bloomparquet.Type
	kind bloom.KeyKind
}

// typeOfParquet returns the type of a column of Parquet.
func typeOfParquet(t bloomparquet.Type) columnType { return columnType{t, t.KeyKind()} }

// typeOfArrow returns the type of a column of Arrow.
func typeOfArrow(t arrow.DataType) (columnType, error) {
	parquet, err := bloomarrow.ParquetType(t)
	if err != nil {
		return columnType{}, fmt.Errorf("values of the Arrow type %v have no keys", t)
	}
	return columnType{parquet, bloomarrow.KeyKind(t)}, nil
}

func (t columnType) isDuration() bool { return t.kind != t.KeyKind() }
