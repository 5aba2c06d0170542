package main

import (
	"bytes"
	"context"
	"embed"
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
	"sync"
	"syscall"
	"time"

	"github.com/lanebloom/bloom"
	"github.com/lanebloom/bloom/cmd/bloom/internal/answers"
	"github.com/lanebloom/bloom/cmd/internal/cli"
	"github.com/lanebloom/bloom/cmd/internal/filterfile"
	"github.com/lanebloom/bloom/cmd/internal/show"
)

// page has the files of the page. The page draws the answers of package answers; it computes no hash
// and no position itself.
//
//go:embed page
var page embed.FS

type exploreCommand struct {
	Address string      `default:"127.0.0.1:0" placeholder:"ADDRESS" help:"Loopback address and port to serve the page on; port 0 means any free port (default ${default})."`
	Format  *cli.Format `placeholder:"NAME" help:"Format of bare bytes: ${formats}. If the file has a header, the header must name the same format."`
	partFlag
	File cli.Input `arg:"" optional:"" name:"filter" help:"The filter or table file to show first. The page can open others."`
}

// given returns the file to begin with, or nil. The page must be able to show it.
func (e *exploreCommand) given(s *cli.Streams) (*answers.Given, error) {
	if e.File == "" && (e.Format != nil || e.Filter != nil) {
		return nil, errors.New("--format and --filter need a file to show first: name one")
	}
	if e.File == "" {
		return nil, nil
	}
	filter, table, err := e.openTableOr(false, string(e.File), func() (filterfile.Filter, error) {
		return cli.FilterFlags{Format: e.Format}.Open(s, string(e.File))
	})
	if err != nil {
		return nil, err
	}
	if table != nil && filter.Filter == nil && table.number >= 0 && table.report.Ribbons > 0 {
		return nil, fmt.Errorf("%s: this is a Ribbon filter, but the page shows only Bloom filters", show.Name(e.File))
	}
	if table != nil && filter.Filter == nil {
		return nil, fmt.Errorf("%s: choose one filter of the table with --filter (number of filters that can be read: %d)", show.Name(e.File), table.report.Filters)
	}
	if kind := filter.KeyKind(); kind != bloom.KindUnknown && kind != bloom.KindText {
		s.Warn(string(e.File), fmt.Sprintf("the filter has keys of the kind %s, but the page accepts only text", kind))
	}
	data := filter.Bytes()
	if filter.IsFile {
		if data, err = filter.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	if _, err := answers.OpenFile(filter.Format(), data); err != nil {
		return nil, fmt.Errorf("%s: %w", show.Name(e.File), err)
	}
	return &answers.Given{Name: filepath.Base(string(e.File)), Format: filter.Format().String(), Bytes: data}, nil
}

func (e *exploreCommand) Run(s *cli.Streams) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	given, err := e.given(s)
	if err != nil {
		return err
	}
	address, err := netip.ParseAddrPort(e.Address)
	if err != nil || !address.Addr().IsLoopback() {
		return fmt.Errorf("--address: explore serves only this machine, so it needs a loopback address such as 127.0.0.1:8080, not %s", e.Address)
	}
	listener, err := net.Listen("tcp", address.String())
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(s.Out, "Explore filters at http://%v/\nInterrupt (Ctrl-C) to stop.\n", listener.Addr()); err != nil {
		return errors.Join(err, listener.Close())
	}
	return serve(ctx, listener, given)
}

// serve answers requests until ctx ends, and then lets the open requests finish.
func serve(ctx context.Context, listener net.Listener, given *answers.Given) error {
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

// exploreHandler serves the page and its answers at an address.
func exploreHandler(address net.Addr, given *answers.Given) http.Handler {
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic(err) // the folder is embedded
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.Handle("POST /api/{name}", &counter{desk: answers.NewDesk(given), turns: make(turns, maxAtWork), large: make(turns, 1)})
	return guard(address, mux)
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

// counter takes the page's questions to a desk. A request is the question, a line of JSON, and after it the
// bytes of a file, if the question is about one; so is the response.
type counter struct {
	desk  *answers.Desk
	turns turns
	large turns // of requests with large bodies
}

const questionType = "application/x-bloom-question"

// ServeHTTP answers a question, and says errors in words.
func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Content-Type") != questionType {
		refuse(w, http.StatusUnsupportedMediaType, errors.New("the type of a request must be "+questionType))
		return
	}
	answer, data, status, err := c.answer(r)
	if err != nil {
		refuse(w, status, err)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(answer) // a line; a browser that went away has no use for the error
	_, _ = w.Write(data)
}

// answer reads a question and answers it in its turn. A turn begins when the request has come, and ends before
// the answer is sent: no one who sends or reads slowly holds it. A large request is in memory only while it
// holds the turn of large ones, which begins before it comes.
func (c *counter) answer(r *http.Request) (answer, data []byte, status int, err error) {
	switch {
	case r.ContentLength < 0:
		return nil, nil, http.StatusLengthRequired, errors.New("the request does not have a length")
	case r.ContentLength > maxBody:
		return nil, nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the request is larger than %d bytes", maxBody)
	case r.ContentLength > smallBody:
		if err := c.large.take(r.Context()); err != nil {
			return nil, nil, http.StatusServiceUnavailable, err
		}
		defer c.large.giveBack()
	}
	body := make([]byte, r.ContentLength)
	if _, err := io.ReadFull(r.Body, body); err != nil {
		return nil, nil, http.StatusBadRequest, err
	}
	if err := c.turns.take(r.Context()); err != nil {
		return nil, nil, http.StatusServiceUnavailable, err
	}
	defer c.turns.giveBack()
	question, file, _ := bytes.Cut(body, []byte("\n"))
	answer, data, err = c.desk.Answer(r.PathValue("name"), question, file)
	return answer, data, http.StatusBadRequest, err
}

func refuse(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(answers.Refuse(err).JSON())
}

// The bounds of what the server does at once. One browser needs less, and together
// they bound its descriptors, and its memory to what the files take that it shows.
const (
	maxConnections = 32 // a browser opens six, and a process may have 256 descriptors
	maxAtWork      = 2  // requests
	patience       = 10 * time.Second
	smallBody      = 4 << 20       // as many as there are connections
	maxBody        = 1<<30 + 1<<20 // one at a time, until it is answered
)

// turns lets as many requests at a time be worked on as it has room for.
type turns chan struct{}

// take waits for a turn, which the caller must give back if there is no error. It
// waits no longer than the context lasts, and patience.
func (t turns) take(ctx context.Context) error {
	tired := time.NewTimer(patience)
	defer tired.Stop()
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-tired.C:
		return errors.New("the server is busy with other requests: try again")
	}
}

func (t turns) giveBack() { <-t }

// connections keeps at most maxConnections of a server open: for a new one it
// closes the one that has done nothing for longest. So connections on which nothing is
// sent, or never all of a request, keep no one else out.
type connections struct {
	mu   sync.Mutex
	open []net.Conn // in the order of their last changes of state
}

// follow is the hook [http.Server.ConnState] of the server.
func (c *connections) follow(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := slices.Index(c.open, conn)
	if known >= 0 {
		c.open = slices.Delete(c.open, known, known+1)
	}
	if state == http.StateClosed || known < 0 && state != http.StateNew { // or it was closed below
		return
	}
	if len(c.open) == maxConnections {
		c.open[0].Close()
		c.open = slices.Delete(c.open, 0, 1)
	}
	c.open = append(c.open, conn)
}
