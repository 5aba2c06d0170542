package main

import (
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
	"slices"
	"syscall"
	"time"
)

// page is what a browser shows. It draws what the API answers and computes no
// hash and no position of its own.
//
//go:embed page
var page embed.FS

type exploreCommand struct {
	Address string `default:"127.0.0.1:0" placeholder:"ADDRESS" help:"Loopback address and port to serve the page at; port 0 is any that is free (${default})."`
}

func (e *exploreCommand) Run(s *streams) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	address, err := netip.ParseAddrPort(e.Address)
	if err != nil {
		return fmt.Errorf("--address: %w", err)
	}
	if !address.Addr().IsLoopback() {
		return fmt.Errorf("--address: explore serves this machine alone, at a loopback address such as 127.0.0.1:8080, and not at %v", address)
	}
	listener, err := net.Listen("tcp", address.String())
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "Explore filters at http://%v/\nInterrupt (Ctrl-C) to stop.\n", listener.Addr())
	return serve(ctx, listener)
}

// serve answers until ctx ends, and then lets what is under way finish.
func serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           exploreHandler(listener.Addr()),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
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
func exploreHandler(address net.Addr) http.Handler {
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic(err) // the folder is embedded
	}
	static := http.FileServerFS(files)
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", static)
	mux.Handle("GET /style.css", static)
	mux.Handle("GET /app.js", static)
	mux.HandleFunc("GET /api/formats", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, listFormats()) })
	mux.HandleFunc("POST /api/filter", endpoint(makeFilter))
	mux.HandleFunc("POST /api/test", endpoint(testKeys))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, fmt.Errorf("there is nothing at %s %.100s", r.Method, r.URL.Path))
	})
	return guard(address, mux)
}

// guard lets only the page itself, and programs of this machine that name it,
// get an answer. A page of another site can make a browser send requests to this
// address, but not without its own name in Origin, or in Host if that name was
// made to resolve to this machine.
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
			refuse(w, http.StatusForbidden, fmt.Errorf("this server is %s, and not %.100q", hosts[0], r.Host))
			return
		}
		if origin := r.Header.Values("Origin"); len(origin) > 1 || len(origin) == 1 && origin[0] != "http://"+r.Host {
			refuse(w, http.StatusForbidden, fmt.Errorf("requests from %.100q are not answered, only those from this server's page", origin))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// maxBody bounds a request: a file of maxFile bytes in base64, and maxKeys keys
// of an ordinary length.
const maxBody = 4 << 20

// endpoint decodes a request, answers it, and says errors in words.
func endpoint[Q, A any](answer func(Q) (A, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Type") != "application/json" {
			refuse(w, http.StatusUnsupportedMediaType, errors.New("requests are of type application/json"))
			return
		}
		var q Q
		decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
		decoder.DisallowUnknownFields()
		err := decoder.Decode(&q)
		if err == nil {
			if _, end := decoder.Token(); !errors.Is(end, io.EOF) {
				err = errors.New("there is more after its end")
			}
		}
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			refuse(w, http.StatusRequestEntityTooLarge, fmt.Errorf("the request is larger than %d bytes", tooLarge.Limit))
			return
		}
		if err != nil {
			refuse(w, http.StatusBadRequest, fmt.Errorf("the request is not understood: %w", err))
			return
		}
		a, err := answer(q)
		if err != nil {
			refuse(w, http.StatusBadRequest, err)
			return
		}
		reply(w, http.StatusOK, a)
	}
}

func reply(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // a browser that went away has no use for the error
}

func refuse(w http.ResponseWriter, status int, err error) {
	reply(w, status, struct {
		Error string `json:"error"`
	}{err.Error()})
}
