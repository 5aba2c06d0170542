package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lanebloom/bloom"
)

// page has the files of the page. The page draws the answers of the API; it computes no hash
// and no position itself.
//
//go:embed page
var page embed.FS

type exploreCommand struct {
	Address string  `default:"127.0.0.1:0" placeholder:"ADDRESS" help:"Loopback address and port to serve the page at; with port 0, any free port (${default})."`
	Format  *string `placeholder:"NAME" help:"Format of a bare filter: ${formats} (leveldb). A file that says its format must agree."`
	File    string  `arg:"" optional:"" name:"filter" help:"The filter to begin with; the page opens others, too."`
}

// givenFile is the file of a filter that the page begins with.
type givenFile struct {
	Name   string `json:"name"`
	Format string `json:"format"`
	Data   []byte `json:"encoded"`
}

// given returns the file to begin with, or nil. The page must be able to show it.
func (e *exploreCommand) given(s *streams) (*givenFile, error) {
	if e.File == "" {
		return nil, nil
	}
	filter, err := filterFlags{Format: e.Format}.openFilter(s, e.File)
	if err != nil {
		return nil, err
	}
	if kind := filter.KeyKind(); kind != bloom.KeysUnknown && kind != bloom.KeysText {
		s.warn(e.File, fmt.Sprintf("the filter has keys of the kind %s, and the page takes text", kind))
	}
	data := filter.Bare
	if filter.IsFile {
		if data, err = filter.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	if _, err := openSmall(filter.Format(), data); err != nil {
		return nil, fmt.Errorf("%s: %w", shown(e.File), err)
	}
	return &givenFile{filepath.Base(e.File), filter.Format().String(), data}, nil
}

func (e *exploreCommand) Run(s *streams) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	given, err := e.given(s)
	if err != nil {
		return err
	}
	address, err := netip.ParseAddrPort(e.Address)
	if err != nil {
		return fmt.Errorf("--address: %w", err)
	}
	if !address.Addr().IsLoopback() {
		return fmt.Errorf("--address: explore serves only this machine, so it needs a loopback address such as 127.0.0.1:8080, not %v", address)
	}
	listener, err := net.Listen("tcp", address.String())
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(s.out, "Explore filters at http://%v/\nInterrupt (Ctrl-C) to stop.\n", listener.Addr()); err != nil {
		return errors.Join(err, listener.Close())
	}
	return serve(ctx, listener, given)
}

// serve answers requests until ctx ends, and then lets the open requests finish.
func serve(ctx context.Context, listener net.Listener, given *givenFile) error {
	server := &http.Server{
		Handler:           exploreHandler(listener.Addr(), given),
		ConnState:         new(connections).follow,
		ReadHeaderTimeout: 5 * time.Second, // also of a connection on which nothing is sent
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second, // begins before the body is read, and lasts longer than that and patience
		IdleTimeout:       15 * time.Second,
		MaxHeaderBytes:    16 << 10,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := server.Shutdown(last); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// exploreHandler serves the page and its API at an address.
func exploreHandler(address net.Addr, given *givenFile) http.Handler {
	mux := http.NewServeMux()
	for pattern, handler := range routes(given) {
		mux.Handle(pattern, handler)
	}
	return guard(address, mux)
}

func routes(given *givenFile) map[string]http.Handler {
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic(err) // the folder is embedded
	}
	static := http.FileServerFS(files)
	turns := newTurns()
	return map[string]http.Handler{
		"GET /{$}":         static,
		"GET /style.css":   static,
		"GET /app.js":      static,
		"GET /api/formats": http.HandlerFunc(sendFormats),
		"GET /api/given":   http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { send(w, http.StatusOK, toJSON(given)) }),
		"POST /api/filter": endpoint(turns, makeFilter),
		"POST /api/test":   endpoint(turns, testKeys),
		"POST /api/curve":  endpoint(turns, curvePoints),
		"POST /api/size":   endpoint(turns, calculate),
		"/":                http.HandlerFunc(nothing),
	}
}

func sendFormats(w http.ResponseWriter, _ *http.Request) {
	send(w, http.StatusOK, toJSON(listFormats()))
}

func nothing(w http.ResponseWriter, r *http.Request) {
	refuse(w, http.StatusNotFound, fmt.Errorf("there is nothing at %s %.100s", r.Method, r.URL.Path))
}

// guard answers only requests from the page itself, and from programs that name this server.
// A page of another site can make a browser send requests to this address. But then the
// browser puts that site's name into Origin, or into Host if the name resolves to this
// machine.
func guard(address net.Addr, next http.Handler) http.Handler {
	hosts := []string{address.String()}
	if _, port, err := net.SplitHostPort(address.String()); err == nil {
		hosts = append(hosts, net.JoinHostPort("localhost", port))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !slices.Contains(hosts, r.Host) {
			refuse(w, http.StatusForbidden, fmt.Errorf("this server is %s, not %.100q", hosts[0], r.Host))
			return
		}
		if origin := r.Header.Values("Origin"); len(origin) > 1 || len(origin) == 1 && origin[0] != "http://"+r.Host {
			refuse(w, http.StatusForbidden, fmt.Errorf("requests from %.100q are not answered: only this server's own page may send them", origin))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// maxBody bounds a request: a file of maxFile bytes in base64, and maxKeys keys
// of an ordinary length.
const maxBody = 4 << 20

// endpoint decodes a request, answers it in its turn, and says errors in words. A
// turn begins when the request has come, and ends before the answer is sent: no one
// who sends or reads slowly holds it.
func endpoint[Q, A any](turns turns, answer func(Q) (A, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Type") != "application/json" {
			refuse(w, http.StatusUnsupportedMediaType, errors.New("the type of a request must be application/json"))
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			refuse(w, http.StatusRequestEntityTooLarge, fmt.Errorf("the request is larger than %d bytes", tooLarge.Limit))
			return
		}
		if err != nil {
			refuse(w, http.StatusBadRequest, err)
			return
		}
		if err := turns.take(r.Context()); err != nil {
			refuse(w, http.StatusServiceUnavailable, err)
			return
		}
		text, err := func() ([]byte, error) {
			defer turns.giveBack()
			var q Q
			if err := fromJSON(body, &q); err != nil {
				return nil, fmt.Errorf("the request is not understood: %w", err)
			}
			a, err := answer(q)
			if err != nil {
				return nil, err
			}
			return toJSON(a), nil
		}()
		if err != nil {
			refuse(w, http.StatusBadRequest, err)
			return
		}
		send(w, http.StatusOK, text)
	}
}

// fromJSON reads a request, all of it.
func fromJSON(body []byte, q any) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(q); err != nil {
		return errors.New(shortenQuote(err.Error()))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after its end")
	}
	return nil
}

// toJSON returns an answer in JSON. It leaves <, > and & as they are, which in HTML
// would mean something and here make it six times as long.
func toJSON(answer any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(answer); err != nil {
		panic(err) // answers hold nothing that JSON cannot say
	}
	return text.Bytes()
}

func send(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // a browser that went away has no use for the error
}

func refuse(w http.ResponseWriter, status int, err error) {
	send(w, status, toJSON(struct {
		Error string `json:"error"`
	}{shortenQuote(err.Error())}))
}

// shortenQuote cuts off the end of words that quote too much of a request.
func shortenQuote(words string) string {
	const most = 500
	if len(words) <= most {
		return words
	}
	return strings.ToValidUTF8(words[:most], "") + "…"
}
