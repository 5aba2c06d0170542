// Command csvjoin does the job of bloom filter --csv --verify with DuckDB: it writes the rows of a CSV file
// whose field is one of the keys of another file, and prints how long that took.
//
//	go run ./csvjoin KEYS FIELD TABLE.csv OUTPUT.csv
package main

import (
	"database/sql"
	"fmt"
	"os"
	"strings"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: csvjoin KEYS FIELD TABLE.csv OUTPUT.csv")
		os.Exit(2)
	}
	if err := join(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "csvjoin:", err)
		os.Exit(1)
	}
}

func join(keys, field, table, output string) error {
	start := time.Now()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return err
	}
	defer db.Close()
	// Every column is text, as it is for bloom filter.
	query := fmt.Sprintf(`COPY (
		SELECT * FROM read_csv(%s, header = true, all_varchar = true)
		WHERE %s IN (SELECT key FROM read_csv(%s, header = false, columns = {'key': 'VARCHAR'}, delim = '\x01', quote = ''))
	) TO %s (FORMAT csv, HEADER)`, text(table), `"`+strings.ReplaceAll(field, `"`, `""`)+`"`, text(keys), text(output))
	result, err := db.Exec(query)
	if err != nil {
		return err
	}
	rows, err := result.RowsAffected()
	if err != nil {
		return err
	}
	fmt.Printf("%d rows in %.2f s\n", rows, time.Since(start).Seconds())
	return nil
}

// text returns s as a literal of SQL.
func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
