package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/bloom/internal/answers"
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

// question is a request of an empty filter.
const question = `{"format":"leveldb","capacity":10,"bits_per_key":10}`

// post asks the server a question, with a file, and returns the answer, which must have the status.
func post(t *testing.T, server *httptest.Server, name, question string, file []byte, status int) []byte {
	t.Helper()
	response, err := server.Client().Post(server.URL+"/api/"+name, questionType, bytes.NewReader(append([]byte(question+"\n"), file...)))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != status {
		t.Fatalf("%s answers %d %s, want %d", name, response.StatusCode, answer, status)
	}
	return answer
}

// TestExplore compares what the server answers with a filter that the test builds, and sends the filter's bytes
// back as a file.
func TestExplore(t *testing.T) {
	server := exploreServer(t)
	set, err := bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}.NewSet(10)
	if err != nil {
		t.Fatal(err)
	}
	set.AddString("a\nb")
	want := set.AppendFilter(nil)
	line, data, _ := bytes.Cut(post(t, server, "filter", strings.TrimSuffix(question, "}")+`,"keys":["a\nb"]}`, nil, 200), []byte("\n"))
	if !json.Valid(line) || !bytes.Equal(data, want) {
		t.Errorf("%s with %x, want %x", line, data, want)
	}
	var opened struct{ File string }
	line, data, _ = bytes.Cut(post(t, server, "filter", `{"format":"leveldb","has_file":true}`, want, 200), []byte("\n"))
	if err := json.Unmarshal(line, &opened); err != nil || len(data) > 0 {
		t.Errorf("%s with %x, %v", line, data, err)
	}
	answer := post(t, server, "test", `{"filter":"`+opened.File+`","keys":["a\nb","c"]}`, nil, 200)
	if !strings.Contains(string(answer), `"may_contain":true`) || !strings.Contains(string(answer), `"may_contain":false`) {
		t.Errorf("%s", answer)
	}
	answer = post(t, server, "test", `{"filter":"none","keys":["a"]}`, nil, 400)
	if string(answer) != `{"error":"the filter is no longer here","gone":true}`+"\n" {
		t.Errorf("%s", answer)
	}
}

// TestExploreLarge takes a large file, and refuses one that is too large or does not say its length.
func TestExploreLarge(t *testing.T) {
	server := exploreServer(t)
	file := make([]byte, smallBody+1)
	file[len(file)-1] = 6
	if answer := post(t, server, "filter", `{"format":"leveldb","has_file":true}`, file, 200); !strings.Contains(string(answer), `"bits":33554432`) {
		t.Errorf("%s", answer)
	}
	for length, status := range map[int64]int{maxBody + 1: http.StatusRequestEntityTooLarge, -1: http.StatusLengthRequired} {
		request := httptest.NewRequest(http.MethodPost, "/api/filter", strings.NewReader(question))
		request.Host, request.ContentLength = server.Listener.Addr().String(), length
		request.Header.Set("Content-Type", questionType)
		recorder := httptest.NewRecorder()
		server.Config.Handler.ServeHTTP(recorder, request)
		if recorder.Code != status {
			t.Errorf("%d bytes: %d %s", length, recorder.Code, recorder.Body)
		}
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
	for name, c := range map[string]struct {
		method, path, host, origin, contentType, body string
		status                                        int
		words                                         string
	}{
		"page":            {"GET", "/", host, "", "", "", 200, "<title>Explore a Bloom filter"},
		"style":           {"GET", "/style.css", host, "", "", "", 200, ":root"},
		"localhost":       {"GET", "/app.js", "localhost:" + port, "http://localhost:" + port, "", "", 200, "import"},
		"own origin":      {"POST", "/api/filter", host, "http://" + host, questionType, question, 200, `"set_bits":0`},
		"no origin":       {"POST", "/api/filter", host, "", questionType, question, 200, `"set_bits":0`},
		"other host":      {"GET", "/", "bloom.example:" + port, "", "", "", 403, "this server is"},
		"no port":         {"GET", "/", "127.0.0.1", "", "", "", 403, "this server is"},
		"other port":      {"GET", "/", "localhost:1", "", "", "", 403, "this server is"},
		"other origin":    {"POST", "/api/filter", host, "http://bloom.example", questionType, question, 403, "not answered"},
		"no one's origin": {"POST", "/api/filter", host, "null", questionType, question, 403, "not answered"},
		"https origin":    {"POST", "/api/filter", host, "https://" + host, questionType, question, 403, "not answered"},
		"mixed names":     {"POST", "/api/filter", host, "http://localhost:" + port, questionType, question, 403, "not answered"},
		"form":            {"POST", "/api/filter", host, "", "text/plain", question, 415, questionType},
		"no type":         {"POST", "/api/filter", host, "", "", question, 415, questionType},
		"no body":         {"POST", "/api/filter", host, "", questionType, "", 400, "not understood"},
		"no question":     {"POST", "/api/remove", host, "", questionType, question, 400, "there is no question"},
		"not for posting": {"POST", "/", host, "", questionType, question, 405, "Method Not Allowed"},
		"get":             {"GET", "/api/filter", host, "", "", "", 404, "404"},
		"folder":          {"GET", "/page/", host, "", "", "", 404, "404"},
		"file of code":    {"GET", "/explore.go", host, "", "", "", 404, "404"},
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
			if c.method == "POST" && c.status != 200 && c.status != 405 && !json.Valid(body) {
				t.Errorf("the error is no JSON: %s", body)
			}
		})
	}
}

// TestExplorePage checks that the page loads nothing from elsewhere, and that its security
// policy allows all of it.
func TestExplorePage(t *testing.T) {
	// A browser loads neither a link nor the picture of a preview.
	named := strings.NewReplacer(`<a href="https://`, "", `<meta property="og:image" content="https://`, "")
	files := os.DirFS(".")
	var names []string
	for _, pattern := range []string{"page/*", "site/*.js"} {
		found, err := fs.Glob(files, pattern)
		if err != nil || len(found) < 2 {
			t.Fatal(found, err)
		}
		names = append(names, found...)
	}
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"https://", "src=\"//", "@import", "<style", " style=\"", " onclick=", "innerHTML", "eval("} {
			if strings.Contains(named.Replace(string(data)), bad) {
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
	go func() { done <- serve(ctx, listener, nil) }()
	response, err := http.Get("http://" + listener.Addr().String() + "/app.js")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Error(response.Status)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestExploreTurns works on two requests at once, whatever the number of those that come,
// on the next when one is done, and tells the others after a while that it is busy.
func TestExploreTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var started atomic.Int32
		finish := make(chan struct{})
		turns := make(turns, maxAtWork)
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := turns.take(r.Context()); err != nil {
				refuse(w, http.StatusServiceUnavailable, err)
				return
			}
			defer turns.giveBack()
			started.Add(1)
			<-finish
		})
		codes := make(chan int, 10)
		ask := func(ctx context.Context) {
			request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader("{}"))
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

// TestExploreLargeTurns wants one large request at a time in memory: the next comes when the one before it is
// answered or refused, and not when it waits for its turn.
func TestExploreLargeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counter := &counter{desk: answers.NewDesk(nil), turns: make(turns, maxAtWork), large: make(turns, 1)}
		for range maxAtWork {
			counter.turns <- struct{}{}
		}
		var received [2]atomic.Int64 // bytes of each request
		codes := make(chan int, len(received))
		send := func(n *atomic.Int64) {
			const size = smallBody + 1
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/filter", zeros{n})
			request.ContentLength = size
			request.Header.Set("Content-Type", questionType)
			response := httptest.NewRecorder()
			counter.ServeHTTP(response, request)
			codes <- response.Code
		}
		go send(&received[0])
		synctest.Wait()
		time.Sleep(patience / 2)
		go send(&received[1])
		synctest.Wait()
		if received[0].Load() == 0 || received[1].Load() > 0 {
			t.Fatalf("%d and %d bytes came while the first request waits for its turn", received[0].Load(), received[1].Load())
		}
		if code := <-codes; code != http.StatusServiceUnavailable {
			t.Errorf("the first request has status %d", code)
		}
		synctest.Wait()
		if received[1].Load() == 0 {
			t.Error("the second request did not come after the first was refused")
		}
		counter.turns.giveBack()
		if code := <-codes; code != http.StatusBadRequest { // its zeros are no question
			t.Errorf("the second request has status %d", code)
		}
	})
}

// zeros is a reader without an end, which counts what it gave.
type zeros struct{ n *atomic.Int64 }

func (z zeros) Read(p []byte) (int, error) {
	clear(p)
	z.n.Add(int64(len(p)))
	return len(p), nil
}

// pipes is a listener that accepts connections of a process with itself.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	conn, open := <-p
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p pipes) Close() error { close(p); return nil }

func (pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080} }

// TestExploreConnections opens more connections than are kept, without a request on them, and wants one more
// to be answered before any has waited for long.
func TestExploreConnections(t *testing.T) {
	address := pipes(nil).Addr().String()
	get := "GET /style.css HTTP/1.1\r\nHost: " + address + "\r\n\r\n"
	for name, first := range map[string]string{
		"nothing sent": "",
		"half a head":  get[:20],
		"half a body":  "POST /api/test HTTP/1.1\r\nHost: " + address + "\r\nContent-Type: " + questionType + "\r\nContent-Length: 100\r\n\r\n{",
		"idle":         get,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { exploreConnections(t, first, get) })
		})
	}
}

func exploreConnections(t *testing.T, first, get string) {
	listener := make(pipes)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- serve(ctx, listener, nil) }()
	dial := func(send string) *bufio.Reader {
		conn, server := net.Pipe()
		t.Cleanup(func() { conn.Close() })
		if err := conn.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		listener <- server
		if _, err := io.WriteString(conn, send); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		return bufio.NewReader(conn)
	}
	answered := func(in *bufio.Reader) {
		t.Helper()
		response, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		_, err = io.Copy(io.Discard, response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatal(response.Status, err)
		}
	}
	var waiting []*bufio.Reader
	for range 3 * maxConnections {
		in := dial(first)
		if first == get {
			answered(in)
		}
		waiting = append(waiting, in)
	}
	answered(dial(get))
	for i, in := range waiting {
		_, err := in.ReadByte()
		if isOpen := errors.Is(err, os.ErrDeadlineExceeded); err == nil || isOpen != (i > len(waiting)-maxConnections) {
			t.Fatalf("connection %d of %d is open: %v, or %v", i, len(waiting), isOpen, err)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
