// Package command builds the command that this module compares with DuckDB, and opens DuckDB.
package command

import (
	"database/sql"
	"errors"
	"os/exec"
	"path/filepath"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/lanebloom/bloom/compare/internal/race"
)

// Build writes bloom-parquet to a folder, and returns its path.
func Build(dir string) (string, error) {
	name := filepath.Join(dir, "bloom-parquet")
	_, _, err := race.Output(exec.Command("go", "build", "-o", name, "github.com/lanebloom/bloom/cmd/bloom-parquet"))
	return name, err
}

// DuckDB opens a database in memory and runs queries there. It has one connection: what SET says is for a connection.
func DuckDB(queries ...string) (*sql.DB, error) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	for _, query := range queries {
		if _, err := db.Exec(query); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}
