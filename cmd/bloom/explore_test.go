package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lanebloom/bloom"
)

// exploreServer serves explore at the address that the test server has.
func exploreServer(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.Config.Handler = exploreHandler(server.Listener.Addr())
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// post sends a request and decodes the answer, which must have the status.
func post(t *testing.T, server *httptest.Server, path string, question, answer any, status int) {
	t.Helper()
	body, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Post(server.URL+path, "application/json", bytes.NewReader(body))
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
	for _, e := range encodings {
		for _, shape := range []struct{ capacity, bitsPerKey, probes int }{
			{1, 1, 0}, {5, 10, 0}, {5, 10, 1}, {5, 10, 30}, {maxKeys, maxBitsPerKey, 0},
		} {
			t.Run(fmt.Sprintf("%v/%v", e.format, shape), func(t *testing.T) {
				var f filterAnswer
				question := filterRequest{
					Format: e.format.String(), Capacity: shape.capacity, BitsPerKey: shape.bitsPerKey, Probes: shape.probes, Keys: keys,
				}
				post(t, server, "/api/filter", question, &f, http.StatusOK)
				if len(f.Keys) != 5 {
					t.Errorf("%d keys, want 5 without the duplicate", len(f.Keys))
				}
				filter, err := bloom.Open(e.format, f.Encoded)
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
				if f.Curve == nil || f.Curve.Keys != shape.capacity || len(f.Curve.Points) != maxBitsPerKey ||
					math.Abs(f.Curve.Points[shape.bitsPerKey-1].Rate/f.Curve.Chosen.Rate-1) > 0.05 {
					t.Errorf("curve %+v", f.Curve)
				}

				var answer testAnswer
				tested := append(slices.Clone(keys), "absent", "also absent")
				post(t, server, "/api/test", testRequest{Format: e.format.String(), Encoded: f.Encoded, Keys: tested}, &answer, http.StatusOK)
				if len(answer.Results) != 7 {
					t.Fatalf("%d results, want 7", len(answer.Results))
				}
				array := e.part(f.Encoded, partBits)
				for _, r := range answer.Results {
					missing := slices.ContainsFunc(r.Positions, func(bit uint64) bool { return array[bit/8]>>(bit%8)&1 == 0 })
					if r.MayContain == missing || len(r.Positions) != f.Probes {
						t.Errorf("%q: %+v, but bits are missing: %v", r.Key, r, missing)
					}
					if want := bloom.Reference(e.format, f.Encoded, []byte(r.Key)); r.MayContain != want {
						t.Errorf("%q: %v, the reference says %v", r.Key, r.MayContain, want)
					}
				}

				// As a file, the same filter is the same, and takes more keys.
				var file filterAnswer
				post(t, server, "/api/filter", filterRequest{Format: e.format.String(), File: f.Encoded}, &file, http.StatusOK)
				if !bytes.Equal(file.Encoded, f.Encoded) || file.SetBits != f.SetBits || file.Observed != f.Observed {
					t.Errorf("as a file: %d of %d bits set, want %d of %d", file.SetBits, file.Bits, f.SetBits, f.Bits)
				}
				post(t, server, "/api/filter", filterRequest{Format: e.format.String(), File: f.Encoded, Keys: []string{"more"}}, &file, http.StatusOK)
				if !bloom.Reference(e.format, file.Encoded, []byte("more")) || !bloom.Reference(e.format, file.Encoded, []byte("hello")) {
					t.Error("a key is missing after one was added to a file")
				}
			})
		}
	}
}

// TestExploreOdd looks inside files that hold no key, or all.
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

// TestExploreRefuses names what is wrong with a request.
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
		"many keys":       {"/api/filter", with(func(q *filterRequest) { q.Keys = many }), 400, "5001 keys are more than the 5000"},
		"long key":        {"/api/filter", with(func(q *filterRequest) { q.Keys = []string{"a", strings.Repeat("b", 257)} }), 400, "a key has 257 bytes, more than the 256 that are taken here: \"bbb"},
		"large file":      {"/api/filter", with(func(q *filterRequest) { q.File = make([]byte, maxFile+1) }), 400, "larger than 1048576 bytes"},
		"no bits to set":  {"/api/filter", filterRequest{Format: "leveldb", File: []byte{6}, Keys: []string{"a"}}, 400, "no key can be added"},
		"larger still":    {"/api/filter", with(func(q *filterRequest) { q.File = make([]byte, maxBody) }), 413, "the request is larger than 4194304 bytes"},
		"no key to test":  {"/api/test", testRequest{Format: "leveldb"}, 400, "no key to test"},
		"format to test":  {"/api/test", testRequest{Format: "", Keys: []string{"a"}}, 400, "unknown format"},
		"filter to test":  {"/api/test", testRequest{Format: "leveldb", Encoded: make([]byte, maxFile+1), Keys: []string{"a"}}, 400, "larger than"},
		"keys to test":    {"/api/test", testRequest{Format: "leveldb", Keys: many}, 400, "5001 keys"},
		"unknown field":   {"/api/filter", map[string]int{"size": 3}, 400, `unknown field "size"`},
		"wrong type":      {"/api/filter", map[string]string{"capacity": "ten"}, 400, "not understood"},
		"no base64":       {"/api/filter", map[string]string{"file": "?"}, 400, "not understood"},
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

// TestExploreGuard tries requests as other sites make a browser send them, and
// bodies that are no JSON.
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

// TestExplorePage wants a page that loads nothing from elsewhere and that its
// policy lets run.
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

// TestExploreStops ends the server with its context.
func TestExploreStops(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- serve(ctx, listener) }()
	response, err := http.Get("http://" + listener.Addr().String() + "/api/formats")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var formats formatsAnswer
	if err := json.NewDecoder(response.Body).Decode(&formats); err != nil || len(formats.Formats) != len(encodings) {
		t.Errorf("formats %+v, %v", formats, err)
	}
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the server goes on")
	}
}

// FuzzExplore answers any body: with a filter, or an error in words.
func FuzzExplore(f *testing.F) {
	handler := exploreHandler(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1})
	f.Add([]byte(`{"format":"leveldb","capacity":10,"bits_per_key":10,"probes":3,"keys":["a","b"]}`))
	f.Add([]byte(`{"format":"leveldb","file":"` + base64.StdEncoding.EncodeToString([]byte{1, 64, 6}) + `","keys":["a"]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		request := httptest.NewRequest(http.MethodPost, "/api/filter", bytes.NewReader(body))
		request.Host = "127.0.0.1:1"
		request.Header.Set("Content-Type", "application/json")
		response := httptest.NewRecorder()
		handler.ServeHTTP(response, request)
		var answer struct {
			Error   string
			Encoded []byte
		}
		if err := json.Unmarshal(response.Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if ok := response.Code == http.StatusOK; ok != (answer.Error == "") || !ok && response.Code >= 500 {
			t.Errorf("%d with the error %q", response.Code, answer.Error)
		}
	})
}
