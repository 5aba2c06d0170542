package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lanebloom/bloom"
)

// exploreServer serves explore at the address that the test server has.
func exploreServer(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.Config.Handler = exploreHandler(server.Listener.Addr(), nil)
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// post sends a request and decodes the answer, which must have the status.
func post(t *testing.T, server *httptest.Server, path string, question, answer any, status int) {
	t.Helper()
	response, err := server.Client().Post(server.URL+path, "application/json", bytes.NewReader(body(t, question)))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != status {
		t.Fatalf("%s answers %d %s, want %d", path, response.StatusCode, text, status)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// TestExplore adds keys to filters of every format and some shapes, and
// compares what the API says with the bytes that it sends.
func TestExplore(t *testing.T) {
	server := exploreServer(t)
	keys := []string{"hello", "world", "", "hello", "schlüssel", strings.Repeat("k", maxKeyBytes)}
	for _, format := range formats {
		for _, shape := range []struct{ capacity, bitsPerKey, probes int }{
			{1, 1, 0}, {5, 10, 0}, {5, 10, 1}, {5, 10, 30}, {maxKeys, maxBitsPerKey, 0},
		} {
			t.Run(fmt.Sprintf("%v/%v", format, shape), func(t *testing.T) {
				if shape.probes > 0 && !choosesProbes(format) {
					var answer struct{ Error string }
					post(t, server, "/api/filter", filterRequest{Format: format.String(), Capacity: 1, BitsPerKey: 10, Probes: 3}, &answer, http.StatusBadRequest)
					post(t, server, "/api/curve", curveRequest{format.String(), 1, 3}, &answer, http.StatusBadRequest)
					if !strings.Contains(answer.Error, "no other can be chosen") {
						t.Errorf("the error is %q", answer.Error)
					}
					return
				}
				var f filterAnswer
				question := filterRequest{
					Format: format.String(), Capacity: shape.capacity, BitsPerKey: shape.bitsPerKey, Probes: shape.probes, Keys: keys,
				}
				post(t, server, "/api/filter", question, &f, http.StatusOK)
				if len(f.Keys) != 5 {
					t.Errorf("%d keys, want 5 without the duplicate", len(f.Keys))
				}
				filter, err := bloom.Open(format, f.Encoded)
				if err != nil {
					t.Fatal(err)
				}
				stats := filter.Stats()
				if f.Bits != stats.Bits || f.SetBits != stats.SetBits || f.Probes != stats.Probes {
					t.Errorf("%d of %d bits and %d probes, want %+v", f.SetBits, f.Bits, f.Probes, stats)
				}
				if shape.probes > 0 && f.Probes != shape.probes {
					t.Errorf("%d probes, want %d", f.Probes, shape.probes)
				}
				if d := math.Abs(f.Observed - stats.FalsePositiveRate); d > 0.01 {
					t.Errorf("observed %v, random hashes have %v", f.Observed, stats.FalsePositiveRate)
				}
				var c curveAnswer
				post(t, server, "/api/curve", curveRequest{format.String(), shape.capacity, shape.probes}, &c, http.StatusOK)
				if f.Curve == nil || f.Curve.Keys != shape.capacity || f.Curve.Probes != shape.probes || len(c.Points) != maxBitsPerKey ||
					math.Abs(c.Points[shape.bitsPerKey-1].Rate/f.Curve.Chosen.Rate-1) > 0.05 {
					t.Errorf("curve %+v, %+v", f.Curve, c)
				}

				var answer testAnswer
				tested := append(slices.Clone(keys), "absent", "also absent")
				post(t, server, "/api/test", testRequest{Format: format.String(), Encoded: f.Encoded, Keys: tested}, &answer, http.StatusOK)
				if len(answer.Results) != 7 {
					t.Fatalf("%d results, want 7", len(answer.Results))
				}
				from, to := filter.BitRange()
				array := f.Encoded[from:to]
				for _, r := range answer.Results {
					missing := slices.ContainsFunc(r.Positions, func(bit uint64) bool { return array[bit/8]>>(bit%8)&1 == 0 })
					if r.MayContain == missing || len(r.Positions) != f.Probes {
						t.Errorf("%q: %+v, but bits are missing: %v", r.Key, r, missing)
					}
					if want := bloom.Reference(format, f.Encoded, []byte(r.Key)); r.MayContain != want {
						t.Errorf("%q: %v, the reference says %v", r.Key, r.MayContain, want)
					}
				}

				// As a file, the same filter is the same, and takes more keys.
				var file filterAnswer
				post(t, server, "/api/filter", filterRequest{Format: format.String(), File: f.Encoded}, &file, http.StatusOK)
				if !bytes.Equal(file.Encoded, f.Encoded) || file.SetBits != f.SetBits || file.Observed != f.Observed {
					t.Errorf("as a file: %d of %d bits set, want %d of %d", file.SetBits, file.Bits, f.SetBits, f.Bits)
				}
				post(t, server, "/api/filter", filterRequest{Format: format.String(), File: f.Encoded, Keys: []string{"more"}}, &file, http.StatusOK)
				if !bloom.Reference(format, file.Encoded, []byte("more")) || !bloom.Reference(format, file.Encoded, []byte("hello")) {
					t.Error("a key is missing after one was added to a file")
				}
			})
		}
	}
}

// TestExploreFile opens the files of bloom build. They say their format, whatever is chosen on the
// page, and the answer has their bare bytes.
func TestExploreFile(t *testing.T) {
	server := exploreServer(t)
	for _, format := range formats {
		for _, chosen := range formats {
			t.Run(fmt.Sprint(format, " as ", chosen), func(t *testing.T) {
				set, err := bloom.Policy{Format: format, BitsPerKey: 10}.NewSet(40)
				if err != nil {
					t.Fatal(err)
				}
				set.AddString("hello")
				file, err := set.MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				var f filterAnswer
				post(t, server, "/api/filter", filterRequest{Format: chosen.String(), File: file, Keys: []string{"more"}}, &f, http.StatusOK)
				set.AddString("more")
				if f.Format != format.String() || !f.IsFile || !bytes.Equal(f.Encoded, set.AppendFilter(nil)) {
					t.Errorf("the answer is %x of %s, file: %v; want %x of %v", f.Encoded, f.Format, f.IsFile, set.AppendFilter(nil), format)
				}
				file[len(file)-20] ^= 1 // in the bits
				var answer struct{ Error string }
				post(t, server, "/api/filter", filterRequest{Format: chosen.String(), File: file}, &answer, http.StatusBadRequest)
				if !strings.Contains(answer.Error, "checksum") {
					t.Errorf("the error of a damaged file is %q", answer.Error)
				}
			})
		}
	}
}

// TestExploreLargest opens filters of exactly the largest size, whatever is around their bits.
func TestExploreLargest(t *testing.T) {
	server := exploreServer(t)
	for _, format := range []bloom.Format{bloom.LevelDB, bloom.Nori, bloom.NoriCrate, bloom.Parquet, bloom.RocksDB} {
		set, err := bloom.Policy{Format: format, BitsPerKey: 8}.NewSet(maxArray)
		if err != nil {
			t.Fatal(err)
		}
		file, err := set.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{"file": file, "bare": set.AppendFilter(nil)} {
			t.Run(fmt.Sprint(format, " ", name), func(t *testing.T) {
				var f filterAnswer
				post(t, server, "/api/filter", filterRequest{Format: format.String(), File: data, Keys: []string{"key"}}, &f, http.StatusOK)
				if f.Bits != 8*maxArray {
					t.Errorf("%d bits", f.Bits)
				}
				var answer testAnswer
				post(t, server, "/api/test", testRequest{Format: format.String(), Encoded: f.Encoded, Keys: []string{"key"}}, &answer, http.StatusOK)
				if !answer.Results[0].MayContain {
					t.Error("the key is not in the filter")
				}
				var limits formatsAnswer
				response, err := server.Client().Get(server.URL + "/api/formats")
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				if err := json.NewDecoder(response.Body).Decode(&limits); err != nil || len(data) > limits.Limits["file"] {
					t.Errorf("the page takes files of up to %d bytes, and this has %d: %v", limits.Limits["file"], len(data), err)
				}
			})
		}
	}
}

// TestExploreKeyCount wants the number of keys that a file says, and none where nothing says it.
func TestExploreKeyCount(t *testing.T) {
	server := exploreServer(t)
	for _, format := range formats {
		set, err := bloom.Policy{Format: format, BitsPerKey: 10}.NewSet(1000)
		if err != nil {
			t.Fatal(err)
		}
		set.AddBatch(bloom.Strings(manyKeys(1000, 0, "")))
		file, err := set.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		for _, added := range [][]string{nil, {"a", "b", "b"}} {
			want := uint64(1000 + len(added)/3*2)
			var f filterAnswer
			post(t, server, "/api/filter", filterRequest{Format: format.String(), File: file, Keys: added}, &f, http.StatusOK)
			if f.KeyCount == nil || *f.KeyCount != want {
				t.Errorf("%v: the file has %v keys, want %d", format, f.KeyCount, want)
			}
			if rate := format.FalsePositiveRate(int(want), f.Bits, f.Probes); f.Expected != rate {
				t.Errorf("%v: a rate of %v is expected, want %v", format, f.Expected, rate)
			}
			if f.Curve == nil || f.Curve.Keys != int(want) {
				t.Errorf("%v: the curve is %+v, want one of %d keys", format, f.Curve, want)
			}
			var bare filterAnswer
			post(t, server, "/api/filter", filterRequest{Format: format.String(), File: set.AppendFilter(nil), Keys: added}, &bare, http.StatusOK)
			if bare.KeyCount != nil {
				t.Errorf("%v: bare bytes have %v keys", format, *bare.KeyCount)
			}
		}
	}
	// More keys than a filter has any use for: a filter merged with itself counts its keys twice.
	set, err := bloom.Policy{BitsPerKey: 10}.NewSet(1)
	if err != nil {
		t.Fatal(err)
	}
	set.AddString("a")
	for range 60 {
		if err := set.Merge(set); err != nil {
			t.Fatal(err)
		}
	}
	file, err := set.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var f filterAnswer
	post(t, server, "/api/filter", filterRequest{Format: "leveldb", File: file}, &f, http.StatusOK)
	if f.KeyCount == nil || *f.KeyCount != 1<<60 || f.Expected != 1 || f.Curve != nil {
		t.Errorf("%v keys, a rate of %v, a curve %+v", f.KeyCount, f.Expected, f.Curve)
	}
}

// TestExploreSize calculates the sizes that bloom size calculates, also of 10^8 keys.
func TestExploreSize(t *testing.T) {
	server := exploreServer(t)
	keys, oneInHundred, bits, memory := keyCount(1e8), rate(0.01), 10, byteSize(64<<20)
	for question, command := range map[string]sizeCommand{
		`{"keys":"1e8","bits_per_key":10}`:      {Keys: &keys, BitsPerKey: &bits},
		`{"keys":"100M","rate":"1%"}`:           {Keys: &keys, Rate: &oneInHundred},
		`{"keys":"1e8","memory":"64MiB"}`:       {Keys: &keys, Memory: &memory},
		`{"memory":"64 MiB","bits_per_key":10}`: {Memory: &memory, BitsPerKey: &bits},
	} {
		var answer sizeAnswer
		post(t, server, "/api/size", question, &answer, http.StatusOK)
		want := command.sizes()
		if len(answer.Sizes) != len(formats) || string(toJSON(answer.Sizes)) != string(toJSON(want)) {
			t.Errorf("%s: %s, want %s", question, toJSON(answer.Sizes), toJSON(want))
		}
	}
}

// TestExploreOdd opens files of filters that answer no to every key, or yes to every key.
func TestExploreOdd(t *testing.T) {
	server := exploreServer(t)
	for name, c := range map[string]struct {
		file     []byte
		observed float64
	}{
		"empty":    {[]byte{}, 0},
		"one byte": {[]byte{6}, 0},
		"reserved": {[]byte{0, 0, 31}, 1},
		"full":     {[]byte{255, 255, 6}, 1},
		"no key":   {make([]byte, 9), 1}, // k is 0
	} {
		t.Run(name, func(t *testing.T) {
			var f filterAnswer
			post(t, server, "/api/filter", filterRequest{Format: "leveldb", File: c.file}, &f, http.StatusOK)
			if f.Observed != c.observed || f.Expected != c.observed || f.Curve != nil {
				t.Errorf("observed %v, expected %v, curve %v, want %v", f.Observed, f.Expected, f.Curve, c.observed)
			}
			var answer testAnswer
			post(t, server, "/api/test", testRequest{Format: "leveldb", Encoded: c.file, Keys: []string{"key"}}, &answer, http.StatusOK)
			if got := answer.Results[0].MayContain; got != (c.observed == 1) {
				t.Errorf("may contain a key: %v", got)
			}
		})
	}
}

// TestExploreRefuses sends bad requests. The error must name what is wrong.
func TestExploreRefuses(t *testing.T) {
	server := exploreServer(t)
	many := make([]string, maxKeys+1)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	shape := filterRequest{Format: "leveldb", Capacity: 10, BitsPerKey: 10}
	with := func(change func(*filterRequest)) filterRequest {
		q := shape
		change(&q)
		return q
	}
	for name, c := range map[string]struct {
		path     string
		question any
		status   int
		words    string
	}{
		"format":          {"/api/filter", with(func(q *filterRequest) { q.Format = "cuckoo" }), 400, `unknown format "cuckoo"`},
		"no keys":         {"/api/filter", with(func(q *filterRequest) { q.Capacity = 0 }), 400, "expected keys must be between 1 and 5000, and is 0"},
		"many expected":   {"/api/filter", with(func(q *filterRequest) { q.Capacity = math.MaxInt }), 400, "expected keys must be"},
		"bits":            {"/api/filter", with(func(q *filterRequest) { q.BitsPerKey = 33 }), 400, "bits per key must be between 1 and 32"},
		"probes":          {"/api/filter", with(func(q *filterRequest) { q.Probes = 31 }), 400, "probes, if it is not the format's own, must be between 1 and 30"},
		"many keys":       {"/api/filter", with(func(q *filterRequest) { q.Keys = many }), 400, "more than the 5000 keys"},
		"long key":        {"/api/filter", with(func(q *filterRequest) { q.Keys = []string{"a", strings.Repeat("b", 257)} }), 400, "a key has 257 bytes, more than the limit of 256: \"bbb"},
		"large file":      {"/api/filter", with(func(q *filterRequest) { q.File = make([]byte, maxArray+2) }), 400, "larger than 1048576 bytes"},
		"text":            {"/api/filter", filterRequest{Format: "leveldb", File: []byte("hello\nworld\n")}, 400, "this looks like text, not like a filter: insist with bloom inspect --raw"},
		"compressed":      {"/api/filter", filterRequest{Format: "leveldb", File: []byte("\x1f\x8b\x08\x00\x00\x06")}, 400, "this looks compressed (gzip): decompress it first, or insist with bloom inspect --raw"},
		"other format":    {"/api/filter", filterRequest{Format: "leveldb", File: crateFile(6, 8, 0xaa)}, 400, "this looks like a filter of nori-crate, not of leveldb: choose its format, or insist with bloom inspect --raw"},
		"no bits to set":  {"/api/filter", filterRequest{Format: "leveldb", File: []byte{6}, Keys: []string{"a"}}, 400, "no key can be added"},
		"larger still":    {"/api/filter", with(func(q *filterRequest) { q.File = make([]byte, maxBody) }), 413, "the request is larger than 4194304 bytes"},
		"no key to test":  {"/api/test", testRequest{Format: "leveldb"}, 400, "no key to test"},
		"format to test":  {"/api/test", testRequest{Format: "", Keys: []string{"a"}}, 400, "unknown format"},
		"filter to test":  {"/api/test", testRequest{Format: "leveldb", Encoded: make([]byte, maxArray+2), Keys: []string{"a"}}, 400, "larger than"},
		"keys to test":    {"/api/test", testRequest{Format: "leveldb", Keys: many}, 400, "more than the 5000 keys"},
		"unknown field":   {"/api/filter", map[string]int{"size": 3}, 400, `unknown field "size"`},
		"wrong type":      {"/api/filter", map[string]string{"capacity": "ten"}, 400, "not understood"},
		"no base64":       {"/api/filter", map[string]string{"file": "?"}, 400, "not understood"},
		"curve's format":  {"/api/curve", curveRequest{"cuckoo", 1, 0}, 400, `unknown format "cuckoo"`},
		"curve's keys":    {"/api/curve", curveRequest{"leveldb", maxCurveKeys + 1, 0}, 400, "keys must be between 1 and 1000000000, and is 1000000001"},
		"curve of none":   {"/api/curve", curveRequest{"leveldb", 0, 0}, 400, "keys must be between 1"},
		"curve's probes":  {"/api/curve", curveRequest{"leveldb", 1, 31}, 400, "must be between 1 and 30"},
		"one number":      {"/api/size", `{"keys":"1e8"}`, 400, "give two of keys, bits-per-key, rate and memory, not 1"},
		"no rate":         {"/api/size", `{"keys":"1e8","rate":"0"}`, 400, "rate: 0 is not between 0 and 1"},
		"no number":       {"/api/size", `{"keys":"ten","rate":"1%"}`, 400, "a number of keys is whole"},
		"no bits":         {"/api/size", `{"keys":"1e8","bits_per_key":0}`, 400, "bits-per-key must be at least 1"},
		"nothing there":   {"/api/remove", shape, 404, "nothing at POST /api/remove"},
		"not for posting": {"/", shape, 404, "nothing at POST /"},
	} {
		t.Run(name, func(t *testing.T) {
			var answer struct{ Error string }
			post(t, server, c.path, c.question, &answer, c.status)
			if !strings.Contains(answer.Error, c.words) {
				t.Errorf("the error is %q, want %q", answer.Error, c.words)
			}
		})
	}
}

// TestExploreGuard sends requests like those that other sites can make a browser send, and
// bodies that are not JSON.
func TestExploreGuard(t *testing.T) {
	server := exploreServer(t)
	host := server.Listener.Addr().String()
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		t.Fatal(err)
	}
	const filter = `{"format":"leveldb","capacity":10,"bits_per_key":10}`
	for name, c := range map[string]struct {
		method, path, host, origin, contentType, body string
		status                                        int
		words                                         string
	}{
		"page":             {"GET", "/", host, "", "", "", 200, "<title>Explore a Bloom filter"},
		"style":            {"GET", "/style.css", host, "", "", "", 200, ":root"},
		"localhost":        {"GET", "/app.js", "localhost:" + port, "http://localhost:" + port, "", "", 200, "use strict"},
		"own origin":       {"POST", "/api/filter", host, "http://" + host, "application/json", filter, 200, "encoded"},
		"no origin":        {"POST", "/api/filter", host, "", "application/json", filter, 200, "encoded"},
		"other host":       {"GET", "/", "bloom.example:" + port, "", "", "", 403, "this server is"},
		"no port":          {"GET", "/", "127.0.0.1", "", "", "", 403, "this server is"},
		"other port":       {"GET", "/", "localhost:1", "", "", "", 403, "this server is"},
		"other origin":     {"POST", "/api/filter", host, "http://bloom.example", "application/json", filter, 403, "not answered"},
		"no one's origin":  {"POST", "/api/filter", host, "null", "application/json", filter, 403, "not answered"},
		"https origin":     {"POST", "/api/filter", host, "https://" + host, "application/json", filter, 403, "not answered"},
		"mixed names":      {"POST", "/api/filter", host, "http://localhost:" + port, "application/json", filter, 403, "not answered"},
		"form":             {"POST", "/api/filter", host, "", "text/plain", filter, 415, "application/json"},
		"no type":          {"POST", "/api/filter", host, "", "", filter, 415, "application/json"},
		"no body":          {"POST", "/api/filter", host, "", "application/json", "", 400, "not understood"},
		"half":             {"POST", "/api/filter", host, "", "application/json", filter[:20], 400, "not understood"},
		"more":             {"POST", "/api/filter", host, "", "application/json", filter + "}", 400, "more after its end"},
		"list":             {"POST", "/api/filter", host, "", "application/json", "[]", 400, "not understood"},
		"get":              {"GET", "/api/filter", host, "", "", "", 404, "nothing at GET /api/filter"},
		"folder":           {"GET", "/page/", host, "", "", "", 404, "nothing at"},
		"file of the code": {"GET", "/explore.go", host, "", "", "", 404, "nothing at"},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), c.method, server.URL+c.path, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			request.Host = c.host
			for key, value := range map[string]string{"Origin": c.origin, "Content-Type": c.contentType} {
				if value != "" {
					request.Header.Set(key, value)
				}
			}
			response, err := server.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			if response.StatusCode != c.status || !strings.Contains(string(body), c.words) {
				t.Errorf("%d %.200s, want %d and %q", response.StatusCode, body, c.status, c.words)
			}
			for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options", "Cross-Origin-Resource-Policy"} {
				if response.Header.Get(name) == "" {
					t.Errorf("no %s", name)
				}
			}
			if c.status != 200 && !json.Valid(body) {
				t.Errorf("the error is no JSON: %s", body)
			}
		})
	}
}

// TestExplorePage checks that the page loads nothing from elsewhere, and that its security
// policy allows all of it.
func TestExplorePage(t *testing.T) {
	for _, name := range []string{"index.html", "style.css", "app.js"} {
		data, err := page.ReadFile("page/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"https://", "src=\"//", "@import", "<style", " style=\"", " onclick=", "innerHTML", "eval("} {
			if strings.Contains(string(data), bad) {
				t.Errorf("%s has %q", name, bad)
			}
		}
	}
}

// startServer serves on a port of its own until stop, which returns the server's error.
func startServer(t *testing.T) (address string, stop func() error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- serve(ctx, listener, nil) }()
	return listener.Addr().String(), func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(10 * time.Second):
			return errors.New("the server goes on")
		}
	}
}

// TestExploreStops ends the server with its context.
func TestExploreStops(t *testing.T) {
	address, stop := startServer(t)
	response, err := http.Get("http://" + address + "/api/formats")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var about formatsAnswer
	if err := json.NewDecoder(response.Body).Decode(&about); err != nil || len(about.Formats) != len(formats) {
		t.Errorf("formats %+v, %v", formats, err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// crateFile is a filter of the format NoriCrate with all of its bits set or clear. Its header
// may ask for up to 4,096 probes, whatever the size.
func crateFile(probes, bytes int, fill byte) []byte {
	data := binary.LittleEndian.AppendUint32(nil, uint32(probes))
	data = binary.LittleEndian.AppendUint64(data, 8*uint64(bytes))
	return append(data, slices.Repeat([]byte{fill}, bytes)...)
}

// manyKeys returns n different keys, each of them padded to a length.
func manyKeys(n, length int, pad string) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = strconv.Itoa(i)
		keys[i] += strings.Repeat(pad, max(0, length-len(keys[i])))
	}
	return keys
}

// handle sends a body to a handler without a network, so that what is allocated is
// the handler's.
func handle(handler http.Handler, method, path string, body []byte) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, path, bytes.NewReader(body))
	request.Host = "127.0.0.1:1"
	request.Header.Set("Content-Type", "application/json")
	response := httptest.NewRecorder()
	handler.ServeHTTP(response, request)
	return response
}

// body returns a request as it is sent: a text as it is, and all else in JSON.
func body(t testing.TB, question any) []byte {
	t.Helper()
	if text, ok := question.(string); ok {
		return []byte(text)
	}
	data, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The bounds of an answer to a request of so many bytes. What comes on top of the
// request is a filter of the largest capacity, and the bits of its keys. Most is
// allocated for a request that is one unknown name, which encoding/json quotes. With the
// race detector, pools give memory back at random, and 20 MB are allocated instead of 11.
func mostAnswer(request int) int    { return 2*request + 2<<20 }
func mostAllocated(request int) int { return 40*request + 24<<20 }

// TestExploreBounds measures the size of answers, and the memory that they take, for
// requests made to be expensive. All that is allocated is more than what is in use
// at any time.
func TestExploreBounds(t *testing.T) {
	handler := exploreHandler(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, nil)
	randomKeys() // are made once
	file := func(data []byte, keys []string) filterRequest {
		return filterRequest{Format: "nori-crate", File: data, Keys: keys}
	}
	test := func(data []byte, keys []string) testRequest {
		return testRequest{Format: "nori-crate", Encoded: data, Keys: keys}
	}
	short := manyKeys(maxKeys, 0, "")
	for name, c := range map[string]struct {
		path     string
		question any // or a body as it is
		status   int
		words    string
	}{
		"add to many probes":  {"/api/filter", file(crateFile(4096, 8, 0), short), 400, "5000 keys of 4096 probes have more bits than the 150000 that are shown here: take 36 keys or fewer"},
		"test many probes":    {"/api/test", test(crateFile(4096, 8, 0), short), 400, "5000 keys of 4096 probes"},
		"test one too many":   {"/api/test", test(crateFile(4096, 8, 0), short[:37]), 400, "37 keys of 4096 probes"},
		"most probes":         {"/api/filter", file(crateFile(4096, 1<<20-12, 0), short[:36]), 200, `"probes":4096`},
		"most probes to test": {"/api/test", test(crateFile(4096, 1<<20-12, 255), short[:36]), 200, `"may_contain":true`},
		"most keys":           {"/api/filter", filterRequest{Format: "nori-crate", Capacity: maxKeys, BitsPerKey: maxBitsPerKey, Probes: maxProbes, Keys: short}, 200, `"probes":30`},
		"most keys to test":   {"/api/test", test(crateFile(maxProbes, 1<<20-12, 0), short), 200, `"may_contain":false`},
		"curve":               {"/api/curve", curveRequest{"leveldb", maxCurveKeys, maxProbes}, 200, `"points"`},
		"long keys":           {"/api/filter", `{"format":"leveldb","capacity":1,"bits_per_key":1,"keys":["` + strings.Join(manyKeys(maxKeys, maxKeyBytes, "<"), `","`) + `"]}`, 200, `"key":"4999<`},
		"largest file":        {"/api/filter", filterRequest{Format: "leveldb", File: make([]byte, maxArray+1)}, 200, `"encoded"`},
		"empty keys":          {"/api/test", `{"format":"leveldb","keys":[""` + strings.Repeat(`,""`, maxBody/3-20) + "]}", 400, "more than the 5000 keys"},
		"long format":         {"/api/filter", filterRequest{Format: strings.Repeat("\x7f", maxBody-1000)}, 400, `unknown format "\x7f`},
		"long field":          {"/api/test", `{"` + strings.Repeat("\x7f", maxBody-1000) + `":0}`, 400, `unknown field "\x7f`},
		"long key":            {"/api/test", testRequest{Format: "leveldb", Keys: []string{strings.Repeat("\x7f", maxBody-1000)}}, 400, "more than the limit of 256"},
		"long path":           {"/" + strings.Repeat("x", 10_000), "{}", 404, "nothing at"},
	} {
		t.Run(name, func(t *testing.T) {
			body := body(t, c.question)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			response := handle(handler, http.MethodPost, c.path, body)
			runtime.ReadMemStats(&after)
			allocated := int(after.TotalAlloc - before.TotalAlloc)
			answer := response.Body.Bytes()
			t.Logf("request %d, answer %d, allocated %d", len(body), len(answer), allocated)
			if text := strings.ReplaceAll(string(answer), `\\`, `\`); response.Code != c.status || !strings.Contains(strings.ReplaceAll(text, `\"`, `"`), c.words) {
				t.Errorf("%d %.300s, want %d and %q", response.Code, answer, c.status, c.words)
			}
			if len(answer) > mostAnswer(len(body)) {
				t.Errorf("the answer to %d bytes has %d, want at most %d", len(body), len(answer), mostAnswer(len(body)))
			}
			if response.Code != http.StatusOK && len(answer) > 8<<10 {
				t.Errorf("the error has %d bytes", len(answer))
			}
			if allocated > mostAllocated(len(body)) {
				t.Errorf("a request of %d bytes allocates %d, want at most %d", len(body), allocated, mostAllocated(len(body)))
			}
		})
	}
}

// TestExploreSamples wants the same work for the observed rate of any filter.
func TestExploreSamples(t *testing.T) {
	for probes, want := range map[int]int{1: 1 << 18, 30: 1 << 18, 31: 253_632, 4096: 1920} {
		filter, err := bloom.Open(bloom.NoriCrate, crateFile(probes, 1, 255))
		if err != nil {
			t.Fatal(err)
		}
		if rate, n := observedRate(filter, probes); n != want || rate != 1 {
			t.Errorf("%d probes: a rate of %v of %d keys, want 1 of %d", probes, rate, n, want)
		}
	}
}

// TestExploreTurns works on two requests at once, whatever the number of those that come,
// on the next when one is done, and tells the others after a while that it is busy.
func TestExploreTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var started atomic.Int32
		finish := make(chan struct{})
		handler := endpoint(newTurns(), func(struct{}) (string, error) {
			started.Add(1)
			<-finish
			return "done", nil
		})
		codes := make(chan int, 10)
		ask := func(ctx context.Context) {
			request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader("{}"))
			request.Header.Set("Content-Type", "application/json")
			response := httptest.NewRecorder()
			handler.ServeHTTP(response, request)
			codes <- response.Code
		}
		want := func(codesWanted ...int) {
			t.Helper()
			synctest.Wait()
			for _, want := range codesWanted {
				select {
				case got := <-codes:
					if got != want {
						t.Errorf("status %d, want %d", got, want)
					}
				default:
					t.Errorf("no answer, want %d", want)
				}
			}
			if len(codes) > 0 {
				t.Errorf("%d answers too many", len(codes))
			}
		}
		for range 4 {
			go ask(t.Context())
		}
		want()
		gone, leave := context.WithCancel(t.Context())
		go ask(gone)
		want()
		if started.Load() != maxAtWork {
			t.Fatalf("%d requests are worked on, want %d", started.Load(), maxAtWork)
		}
		leave()
		want(http.StatusServiceUnavailable)
		finish <- struct{}{}
		want(http.StatusOK)
		if started.Load() != maxAtWork+1 {
			t.Errorf("%d requests were begun after one ended, want %d", started.Load(), maxAtWork+1)
		}
		time.Sleep(patience)
		want(http.StatusServiceUnavailable)
		close(finish)
		want(http.StatusOK, http.StatusOK)
		if started.Load() != maxAtWork+1 {
			t.Errorf("%d requests were begun in all, want %d", started.Load(), maxAtWork+1)
		}
	})
}

// TestExploreConnections opens more connections than are kept, without a request
// on them, and wants one more to be answered.
func TestExploreConnections(t *testing.T) {
	address, stop := startServer(t)
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	get := "GET /style.css HTTP/1.1\r\nHost: " + address + "\r\n\r\n"
	for name, first := range map[string]string{
		"nothing sent": "",
		"half a head":  get[:20],
		"half a body":  "POST /api/test HTTP/1.1\r\nHost: " + address + "\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
		"idle":         get,
	} {
		t.Run(name, func(t *testing.T) {
			dial := func(send string) (net.Conn, *bufio.Reader) {
				conn, err := net.Dial("tcp", address)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { conn.Close() })
				if err := conn.SetDeadline(time.Now().Add(3 * time.Second)); err != nil {
					t.Fatal(err)
				}
				if _, err := io.WriteString(conn, send); err != nil {
					t.Fatal(err)
				}
				return conn, bufio.NewReader(conn)
			}
			answered := func(in *bufio.Reader) {
				t.Helper()
				response, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatal(err)
				}
				_, err = io.Copy(io.Discard, response.Body)
				if err != nil || response.StatusCode != http.StatusOK {
					t.Fatal(response.Status, err)
				}
			}
			var waiting []*bufio.Reader
			for range 10 * maxConnections {
				_, in := dial(first)
				if first == get {
					answered(in)
				}
				waiting = append(waiting, in)
			}
			_, in := dial(get)
			answered(in)
			// Those that came first were closed. The last are few enough to be kept, and
			// those between may have changed their state in another order.
			for i, in := range waiting[:8*maxConnections] {
				if _, err := in.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
					t.Fatalf("connection %d of %d is not closed: %v", i, len(waiting), err)
				}
			}
		})
	}
}

// FuzzExplore sends any body to any endpoint. The answer is what it offers, or an error in
// words, and not much larger than the request.
func FuzzExplore(f *testing.F) {
	handler := exploreHandler(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, nil)
	patterns := slices.Sorted(maps.Keys(routes(nil)))
	seeds := map[string][]any{
		"/":                {""},
		"GET /{$}":         {""},
		"GET /style.css":   {""},
		"GET /app.js":      {""},
		"GET /api/formats": {""},
		"GET /api/given":   {""},
		"POST /api/filter": {
			filterRequest{Format: "leveldb", Capacity: 10, BitsPerKey: 10, Probes: 3, Keys: []string{"a", "b"}},
			filterRequest{Format: "leveldb", File: []byte{1, 64, 6}, Keys: []string{"a"}},
			filterRequest{Format: "nori", Capacity: maxKeys, BitsPerKey: maxBitsPerKey, Probes: maxProbes},
			filterRequest{Format: "nori-crate", File: crateFile(4096, 1, 255)},
			filterRequest{Format: "nori-crate", File: crateFile(4096, 8, 0), Keys: manyKeys(36, 0, "")},
			filterRequest{Format: "nori-crate", File: crateFile(4096, 8, 0), Keys: manyKeys(maxKeys, 0, "")},
			`{"keys":["","",""],"keys":null}`,
		},
		"POST /api/curve": {
			curveRequest{"nori", 1000, 0},
			curveRequest{"nori-crate", maxCurveKeys, maxProbes},
			`{"format":"nori","keys":1e99}`,
		},
		"POST /api/size": {
			`{"keys":"1e8","rate":"1%"}`,
			`{"keys":"100M","bits_per_key":10}`,
			`{"bits_per_key":10,"memory":"64MiB"}`,
			`{"keys":1}`,
		},
		"POST /api/test": {
			testRequest{Format: "leveldb", Encoded: []byte{1, 64, 6}, Keys: []string{"a", "", "a"}},
			testRequest{Format: "nori-crate", Encoded: crateFile(4096, 8, 0), Keys: manyKeys(36, 0, "")},
			testRequest{Format: "nori-crate", Encoded: crateFile(4096, 8, 0), Keys: manyKeys(maxKeys, 0, "")},
			`{"format":"leveldb","keys":[1]}`,
		},
	}
	for i, pattern := range patterns {
		if len(seeds[pattern]) == 0 {
			f.Fatalf("no seed for %q", pattern)
		}
		for _, question := range seeds[pattern] {
			f.Add(uint8(i), body(f, question))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		pattern := patterns[int(which)%len(patterns)]
		method, path, ok := strings.Cut(strings.TrimSuffix(pattern, "{$}"), " ")
		if !ok {
			method, path = http.MethodPut, "/" // what no other pattern takes
		}
		response := handle(handler, method, path, body)
		if n := response.Body.Len(); n > mostAnswer(len(body)) {
			t.Errorf("%s answers %d bytes with %d", pattern, len(body), n)
		}
		if method == http.MethodGet {
			if response.Code != http.StatusOK || response.Body.Len() == 0 {
				t.Errorf("%s: %d with %d bytes", pattern, response.Code, response.Body.Len())
			}
			return
		}
		var answer struct{ Error string }
		if err := json.Unmarshal(response.Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if ok := response.Code == http.StatusOK; ok != (answer.Error == "") || !ok && response.Code >= 500 {
			t.Errorf("%s: %d with the error %q", pattern, response.Code, answer.Error)
		}
	})
}
