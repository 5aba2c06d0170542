package browser

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lanebloom/bloom"
)

// TestPage uses the page as people do, with a fresh page for every test: as bloom explore serves it, and as
// the site, which a plain file server has in a sub-folder. Each has a browser of its own, and they run at once.
func TestPage(t *testing.T) {
	for name, serve := range map[string]func(*testing.T) string{"explore": explore, "site": site} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, url := start(t), serve(t)
			for _, test := range testsOfAnswers {
				t.Run(test.name, func(t *testing.T) { test.run(openPage(ctx, t, url)) })
			}
			for i, test := range testsOfPage {
				if (i%2 == 0) == (name == "explore") {
					t.Run(test.name, func(t *testing.T) { test.run(openPage(ctx, t, url)) })
				}
			}
			if name == "explore" {
				t.Run("server gone", func(t *testing.T) { testServerGone(openPage(ctx, t, url)) })
			}
		})
	}
}

type pageTest struct {
	name string
	run  func(*page)
}

// testsOfAnswers ask what answers the page: bloom explore or WebAssembly.
var testsOfAnswers = []pageTest{
	{"add and test", testAddAndTest},
	{"click a bit", testClickBit},
	{"change k", testChangeProbes},
	{"change the format", testChangeFormat},
	{"paste", testPaste},
	{"many bits", testManyBits},
	{"drop a file", testDropFile},
	{"drop a file of a format", testDropFileOfFormat},
	{"drop while busy", testDropWhileBusy},
	{"choose a file", testChooseFile},
	{"filter gone", testFilterGone},
	{"large file", testLargeFile},
	{"many probes", testManyProbes},
	{"many keys", testManyKeys},
	{"numbered keys", testNumberedKeys},
	{"download", testDownload},
	{"bad input", testBadInput},
	{"answers", testAnswers},
	{"calculate", testCalculate},
}

// testsOfPage are about the page, whatever answers it: each server has every second one.
var testsOfPage = []pageTest{
	{"keyboard", testKeyboard},
	{"first look", testFirstLook},
	{"phone", testPhone},
	{"curve", testCurve},
	{"address", testAddress},
	{"type", testType},
	{"names", testNames},
	{"narrow", testNarrow},
	{"contrast", testContrast},
}

// policy is the strictest that the site works with: WebAssembly needs a word of its own.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// site builds the site, and serves it in a sub-folder, under the policy.
func site(t *testing.T) string {
	dir := t.TempDir()
	if out, err := exec.Command("../site/build", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	} else {
		t.Logf("%s", out)
	}
	const path = "/bloom/explore/"
	files := http.StripPrefix(path, http.FileServer(http.Dir(dir)))
	var loads atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		if strings.HasSuffix(r.URL.Path, ".wasm") && loads.Add(1)%2 == 0 {
			w.Header().Set("Content-Type", "application/octet-stream") // as servers do that do not know it
		}
		if r.Method != http.MethodGet || !strings.HasPrefix(r.URL.Path, path) {
			t.Errorf("the page asks for %s %s", r.Method, r.URL)
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + path
}

// page is a tab of the browser with explore in it.
type page struct {
	*testing.T
	ctx context.Context
	url string
}

// openPage opens the page with an empty filter of LevelDB, and waits for it. A failed test leaves
// a picture, and any error of the script or breach of the policy fails it.
func openPage(browser context.Context, t *testing.T, url string) *page {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	p := &page{t, ctx, url}
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Listen(ctx, func(event any) {
		if e, ok := event.(*runtime.EventExceptionThrown); ok {
			t.Errorf("the page throws: %+v", e.ExceptionDetails)
		}
	}); err != nil {
		t.Fatal(err)
	}
	limited := ctx
	if end, ok := t.Deadline(); ok { // of all tests; some of the time is left for the picture
		var cancelLimited context.CancelFunc
		limited, cancelLimited = context.WithDeadline(ctx, end.Add(-time.Until(end)/10))
		t.Cleanup(cancelLimited)
	}
	t.Cleanup(func() {
		if t.Failed() {
			p.picture(ctx)
		}
	})
	p.ctx = limited
	p.do(colours("light"), chromedp.EmulateViewport(1200, 1000), chromedp.Navigate(url+"#format=leveldb&n=48"))
	p.wait(`document.querySelector("#grid .bit")`)
	p.do(chromedp.Evaluate[chromedp.Void](`
		window.violations = [];
		document.addEventListener("securitypolicyviolation", (e) => violations.push(e.violatedDirective + " " + e.blockedURI))`))
	t.Cleanup(func() {
		if violations := value[[]string](p, "violations"); len(violations) > 0 {
			t.Errorf("against the policy: %v", violations)
		}
	})
	return p
}

// picture writes what the browser shows to a file, and prints its name.
func (p *page) picture(ctx context.Context) {
	dir, err := os.MkdirTemp("", "bloom-browser-failed-")
	if err != nil {
		p.Error(err)
		return
	}
	limited, cancel := context.WithTimeout(ctx, 10*time.Second) // a frozen page draws none
	defer cancel()
	picture, err := chromedp.Run(limited, chromedp.FullScreenshot(100))
	if err != nil {
		p.Error(err)
		return
	}
	path := filepath.Join(dir, strings.NewReplacer("/", "-", " ", "-").Replace(p.Name())+".png")
	if err := os.WriteFile(path, picture, 0o644); err != nil {
		p.Error(err)
		return
	}
	p.Logf("what the page showed: %s", path)
}

func (p *page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.Fatal(err)
	}
}

// value returns what an expression of JavaScript is.
func value[T any](p *page, expression string) T {
	p.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return v
}

// wait waits until an expression is true.
func (p *page) wait(expression string) {
	p.Helper()
	p.until(p.isTrue(expression), func() string { return "waiting for " + expression })
}

// waitText waits until an element has a text in it.
func (p *page) waitText(id, text string) {
	p.Helper()
	expression := fmt.Sprintf(`document.getElementById(%q).textContent.replaceAll("\u00a0", " ").includes(%q)`, id, text)
	p.until(p.isTrue(expression), func() string { return fmt.Sprintf("waiting for %q in %s, which is %q", text, id, p.text(id)) })
}

// isTrue returns a function that asks the page whether an expression is true.
func (p *page) isTrue(expression string) func() bool {
	expression = fmt.Sprintf("(() => { try { return Boolean(%s) } catch { return false } })()", expression)
	return func() bool { return value[bool](p, expression) }
}

// until asks every few milliseconds whether something is done. (The driver's own polling takes a tenth of a
// second each time.) It gives up after a fixed number of answers of the page: after half a minute on an idle
// machine, and later if other programs slow the page down.
func (p *page) until(done func() bool, failure func() string) {
	p.Helper()
	for range 1500 {
		if done() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	p.Fatal(failure())
}

func (p *page) text(id string) string {
	p.Helper()
	return strings.ReplaceAll(value[string](p, fmt.Sprintf("document.getElementById(%q).textContent", id)), "\u00a0", " ")
}

func (p *page) wantText(id, text string) {
	p.Helper()
	if got := p.text(id); !strings.Contains(got, text) {
		p.Errorf("%s is %q, want %q in it", id, got, text)
	}
}

// click clicks on an element until it has got a click: one that the page moves meanwhile, as it shows an answer, gets none.
func (p *page) click(selector string) {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
		window.clicked = false;
		document.querySelector(%q).addEventListener("click", () => { window.clicked = true; }, { capture: true, once: true });
	}`, selector)))
	p.until(func() bool {
		p.do(chromedp.ScrollIntoView(chromedp.CSS(selector)), chromedp.Click(chromedp.CSS(selector)))
		return value[bool](p, "window.clicked !== false") // another page has no such value
	}, func() string { return "clicking on " + selector })
}

// set replaces a field's value as a person does who then leaves the field.
func (p *page) set(id, text string) {
	p.Helper()
	p.do(chromedp.Focus(chromedp.CSS("#"+id)),
		chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.getElementById(%q).select()", id)),
		chromedp.KeyEvent(text), chromedp.KeyEvent(kb.Tab))
}

// choose picks an option of a list.
func (p *page) choose(id, option string) {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
		`{ const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event("change", { bubbles: true })); }`, id, option)))
}

// write writes keys into the field, as somebody does who pastes them, with the caret in the first line.
func (p *page) write(keys ...string) {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
		const e = document.getElementById("test-keys");
		e.value = %q;
		e.setSelectionRange(0, 0);
		e.dispatchEvent(new Event("input"));
	}`, strings.Join(keys, "\n"))))
}

func (p *page) add(keys ...string) {
	p.Helper()
	before := len(p.keys())
	p.write(keys...)
	p.click("#test [type=submit]")
	p.wait(fmt.Sprintf("page.wanted.keys.length === %d", before+len(keys)))
	p.wait(`document.getElementById("test-keys").value === "" && page.tested === ""`)
}

func (p *page) test(keys ...string) {
	p.Helper()
	p.write(keys...)
	p.wait(fmt.Sprintf(`page.results.length === %d && page.shown.key === %q && page.tested === document.getElementById("test-keys").value`, len(keys), keys[0]))
}

func (p *page) keys() []string { p.Helper(); return value[[]string](p, "page.wanted.keys") }

// bits returns the numbers of the bits in view that have a class.
func (p *page) bits(class string) []uint64 {
	p.Helper()
	return value[[]uint64](p, fmt.Sprintf(
		`[...document.querySelectorAll("#grid .bit")].filter((e) => e.classList.contains(%q)).map((e) => Number(e.dataset.bit))`, class))
}

// set is the library's filter of the shape that openPage asks for.
func set(t *testing.T, capacity, bitsPerKey int, keys ...string) *bloom.Set {
	t.Helper()
	s, err := bloom.Policy{Format: bloom.LevelDB, BitsPerKey: bitsPerKey}.NewSet(capacity)
	if err != nil {
		t.Fatal(err)
	}
	s.AddBatch(bloom.Strings(keys))
	return s
}

// ones returns the bits that are set in a filter of LevelDB.
func ones(encoded []byte) []uint64 { return onesOf(encoded[:len(encoded)-1]) }

func onesOf(array []byte) (set []uint64) {
	for i := range uint64(8 * len(array)) {
		if array[i/8]>>(i%8)&1 != 0 {
			set = append(set, i)
		}
	}
	return set
}

func sorted(positions []uint64) []uint64 {
	return slices.Compact(slices.Sorted(slices.Values(positions)))
}

// wantFilter compares the bits and the bytes in view with those of a filter of LevelDB.
func (p *page) wantFilter(encoded []byte) {
	p.Helper()
	p.wantBits(ones(encoded))
	if got, want := value[string](p, bytesInView), fmt.Sprintf("%x", encoded); got != want {
		p.Errorf("the bytes are %s, want %s", got, want)
	}
}

const bytesInView = `[...document.querySelectorAll("#hex span:not(.at)")].map((e) => e.textContent).join("")`

func (p *page) wantBits(want []uint64) {
	p.Helper()
	if got := p.bits("set"); !slices.Equal(got, want) {
		p.Errorf("bits %v are drawn as set, want %v", got, want)
	}
}

// border returns how a cell is outlined.
func (p *page) border(bit uint64) (border string) {
	p.Helper()
	return value[string](p, fmt.Sprintf(
		`{ const s = getComputedStyle(document.querySelector('[data-bit="%d"]')); s.borderTopStyle + " " + s.borderTopColor }`, bit))
}

func testAddAndTest(p *page) {
	p.add("apple", "pear")
	want := set(p.T, 48, 10, "apple", "pear")
	p.wantFilter(want.AppendFilter(nil))
	p.wantText("status", "2 keys added")
	if got := sorted(want.Filter().Explain([]byte("pear")).Positions); !slices.Equal(p.bits("probed"), got) {
		p.Errorf("bits %v are outlined for the last key, want %v", p.bits("probed"), got)
	}
	p.wantText("answer", "“pear” may be in the filter: all 6 bits are set.")

	p.test("apple", "stone")
	walk := want.Filter().Explain([]byte("apple"))
	if got := p.bits("probed"); !slices.Equal(got, sorted(walk.Positions)) || len(p.bits("missing")) != 0 {
		p.Errorf("bits %v are outlined, and %v as missing, want %v", got, p.bits("missing"), sorted(walk.Positions))
	}
	if got := p.border(walk.Positions[0]); got != "solid rgb(0, 0, 0)" {
		p.Errorf("a bit of a key that may be there has the border %s", got)
	}
	p.wantText("results-summary", "1 of 2 keys may be in the filter")
	p.wantText("walk-hash", fmt.Sprintf("%08x", walk.Numbers[0].Value))
	p.wantText("walk-delta", fmt.Sprintf("%08x", walk.Numbers[1].Value))
	for i, bit := range walk.Positions {
		row := value[string](p, fmt.Sprintf(`document.querySelectorAll("#walk-probes tr")[%d].textContent`, i))
		if want := fmt.Sprintf("%d%dset", i+1, bit); !strings.HasPrefix(row, want) {
			p.Errorf("row %d is %q, want it to begin with %q", i, row, want)
		}
	}

	p.click("#results li:nth-child(2) button")
	p.wait(`page.shown.key === "stone"`)
	walk = want.Filter().Explain([]byte("stone"))
	missing := slices.DeleteFunc(sorted(walk.Positions), func(bit uint64) bool { return slices.Contains(ones(want.AppendFilter(nil)), bit) })
	if got := p.bits("missing"); len(missing) == 0 || !slices.Equal(got, missing) {
		p.Errorf("bits %v are outlined as missing, want %v", got, missing)
	}
	if got := p.border(missing[0]); got != "dashed rgb(192, 13, 45)" {
		p.Errorf("a missing bit has the border %s", got)
	}
	p.wantText("status", fmt.Sprintf("“stone” is certainly not in the filter: %d of 6 bits are missing", len(missing)))
	if label := value[string](p, fmt.Sprintf(`document.querySelector('[data-bit="%d"]').getAttribute("aria-label")`, missing[0])); !strings.Contains(label, "missing") {
		p.Errorf("a missing bit is called %q", label)
	}

	// Once it is added, its bits are set.
	p.add("stone")
	p.waitText("answer", "“stone” may be in the filter: all 6 bits are set.")
	if len(p.bits("missing")) != 0 {
		p.Error("bits are missing for a key that was added")
	}
	if got := value[[]string](p, `[...document.querySelectorAll("#added-keys button")].map((e) => e.textContent)`); !slices.Equal(got, []string{"apple", "pear", "stone"}) {
		p.Errorf("the keys added are %v", got)
	}
}

func testClickBit(p *page) {
	p.add("apple", "pear", "plum")
	s := set(p.T, 48, 10)
	for _, key := range []string{"apple", "plum"} {
		bit := s.Filter().Explain([]byte(key)).Positions[0]
		p.click(fmt.Sprintf(`[data-bit="%d"]`, bit))
		p.waitText("bit-title", fmt.Sprintf("Bit %d is set", bit))
		if got := value[[]string](p, `[...document.querySelectorAll("#bit-keys button")].map((e) => e.textContent)`); !slices.Contains(got, key) {
			p.Errorf("the keys of bit %d are %v, want %q among them", bit, got, key)
		}
		p.wantText("status", key)
	}
	clear := uint64(0)
	for slices.Contains(p.bits("set"), clear) {
		clear++
	}
	p.click(fmt.Sprintf(`[data-bit="%d"]`, clear))
	p.waitText("bit-note", "No key added here maps to it")
}

func testKeyboard(p *page) {
	p.add("apple")
	bit := set(p.T, 48, 10).Filter().Explain([]byte("apple")).Positions[0]
	// One stop for the tab key, and arrows from there.
	if n := value[int](p, `document.querySelectorAll('#grid [tabindex="0"]').length`); n != 1 {
		p.Errorf("%d bits stop the tab key, want 1", n)
	}
	p.do(chromedp.Focus(chromedp.CSS(`#grid [tabindex="0"]`)))
	for range bit / 32 {
		p.do(chromedp.KeyEvent(kb.ArrowDown))
	}
	for range bit % 32 {
		p.do(chromedp.KeyEvent(kb.ArrowRight))
	}
	if got := value[string](p, "document.activeElement.dataset.bit"); got != fmt.Sprint(bit) {
		p.Errorf("the arrow keys lead to bit %s, want %d", got, bit)
	}
	if outline := value[string](p, "getComputedStyle(document.activeElement).outlineStyle"); outline != "solid" {
		p.Errorf("the focus is drawn with an outline that is %s", outline)
	}
	p.do(chromedp.KeyEvent(kb.Enter))
	p.waitText("bit-title", fmt.Sprintf("Bit %d is set", bit))
	p.wantText("bit-keys", "apple")
	if got := value[string](p, "document.activeElement.dataset.bit"); got != fmt.Sprint(bit) {
		p.Errorf("the focus went to bit %s, want it to stay at %d", got, bit)
	}
	for _, move := range []struct {
		key  string
		want string
	}{{kb.Home, fmt.Sprint(bit / 32 * 32)}, {kb.End, fmt.Sprint(bit/32*32 + 31)}} {
		p.do(chromedp.KeyEvent(move.key))
		if got := value[string](p, "document.activeElement.dataset.bit"); got != move.want {
			p.Errorf("the key leads to bit %s, want %s", got, move.want)
		}
	}
	// The first stop leads past the rest, and leaves the address.
	state := value[string](p, "location.hash")
	p.do(chromedp.Focus(chromedp.CSS(".skip")), chromedp.KeyEvent(kb.Enter))
	p.wait(`document.activeElement.id === "test-keys"`)
	if got := value[string](p, "location.hash"); got != state {
		p.Errorf("the address is %s, and was %s", got, state)
	}
	// A key is added without a mouse. With Shift, Enter begins a line.
	for i, modifiers := range []chromedp.KeyOption{chromedp.KeyModifiers(), chromedp.KeyModifiers(chromedp.ModifierCtrl)} {
		key := fmt.Sprint("pear ", i)
		p.do(chromedp.Focus(chromedp.CSS("#test-keys")), chromedp.KeyEvent(key), chromedp.KeyEvent(kb.Enter, modifiers))
		p.waitText("answer", fmt.Sprintf("“%s” may be in the filter", key))
		p.wait(fmt.Sprintf(`page.wanted.keys.at(-1) === %q && document.getElementById("test-keys").value === ""`, key))
	}
	p.do(chromedp.KeyEvent("plum"), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierShift)), chromedp.KeyEvent("kiwi"))
	p.waitText("results-summary", "of 2 keys")
	if got := p.keys(); !slices.Equal(got, []string{"apple", "pear 0", "pear 1"}) {
		p.Errorf("the keys added are %q", got)
	}
}

func testChangeProbes(p *page) {
	p.add("apple", "pear")
	p.choose("probes", "3")
	p.waitText("bits-note", "every key maps to 3")
	data := set(p.T, 48, 10).AppendFilter(nil)
	data[len(data)-1] = 3
	s, err := bloom.OpenSet(bloom.LevelDB, data)
	if err != nil {
		p.Fatal(err)
	}
	s.AddBatch(bloom.Strings([]string{"apple", "pear"}))
	p.wantFilter(s.AppendFilter(nil))
	if n := len(p.bits("probed")); n > 3 {
		p.Errorf("%d bits are outlined for 3 probes", n)
	}
	p.wantText("curve-note", "3 probes")
	p.wait(`page.points.name.includes('"probes":3') && page.points.list.length === 32`)

	p.choose("probes", "0")
	p.waitText("bits-note", "every key maps to 6")
	for _, shape := range []struct {
		id, value            string
		capacity, bitsPerKey int
	}{{"bits-per-key", "20", 48, 20}, {"capacity", "5", 5, 20}, {"bits-per-key", "1", 5, 1}} {
		p.set(shape.id, shape.value)
		want := set(p.T, shape.capacity, shape.bitsPerKey, "apple", "pear")
		p.waitText("bits-note", fmt.Sprintf("%d bits; every key maps to %d", want.Stats().Bits, want.Stats().Probes))
		p.wantFilter(want.AppendFilter(nil))
		p.wantText("status", fmt.Sprintf("The filter has %d bits", want.Stats().Bits))
	}
	p.wantText("n-keys-note", "of 5 expected")
}

// testChangeFormat moves the keys of one filter to filters of other formats, which have a
// header before the bits.
func testChangeFormat(p *page) {
	p.add("apple", "pear")
	for format, header := range map[bloom.Format]int{bloom.Nori: 16, bloom.NoriCrate: 12} {
		s, err := bloom.Policy{Format: format, BitsPerKey: 10}.NewSet(48)
		if err != nil {
			p.Fatal(err)
		}
		s.AddBatch(bloom.Strings([]string{"apple", "pear"}))
		p.choose("format", format.String())
		encoded := s.AppendFilter(nil)
		walk := s.Filter().Explain([]byte("pear"))
		p.wait(fmt.Sprintf("%s === '%x'", bytesInView, encoded))
		p.wantText("walk-hash", fmt.Sprintf("%016x", walk.Numbers[0].Value))
		p.wantBits(onesOf(encoded[header:]))
		if got, want := p.bits("probed"), sorted(walk.Positions); !slices.Equal(got, want) {
			p.Errorf("%v: bits %v are outlined for the last key, want %v", format, got, want)
		}
	}
}

func testPaste(p *page) {
	p.set("capacity", "90")
	keys := make([]string, 100)
	for i := range keys {
		keys[i] = fmt.Sprintf("pasted %d", i)
	}
	p.do(chromedp.Focus(chromedp.CSS("#test-keys")), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, input.InsertText, input.InsertTextParams{Text: strings.Join(keys, "\r\n") + "\n"})
		return err
	}))
	p.click("#test [type=submit]")
	p.waitText("n-keys", "100")
	p.wantText("n-keys-note", "more than the 90 expected")
	want := set(p.T, 90, 10, keys...)
	p.wantFilter(want.AppendFilter(nil))
	stats := want.Stats()
	p.wantText("n-fill-note", fmt.Sprintf("%d of %d bits", stats.SetBits, stats.Bits))
	if got, want := value[float64](p, "page.filter.observed"), want.MeasureRate(); got != want {
		p.Errorf("the observed rate is %v, random hashes have %v", got, want)
	}
	p.click("#clear")
	p.wait(`document.getElementById("n-keys").textContent === "0"`)
	p.wantFilter(set(p.T, 90, 10).AppendFilter(nil))
}

func testManyBits(p *page) {
	p.set("capacity", "1000")
	p.waitText("bits-note", "10,000 bits")
	p.add("apple")
	encoded := set(p.T, 1000, 10, "apple").AppendFilter(nil)
	inView := func(from, to uint64) []uint64 {
		return slices.DeleteFunc(ones(encoded), func(bit uint64) bool { return bit < from || bit >= to })
	}
	if n := value[int](p, `document.querySelectorAll("#grid .bit").length`); n != 1024 {
		p.Errorf("%d bits in view, want 1024", n)
	}
	p.set("go-bit", "10000")
	p.click("#go [type=submit]")
	p.waitText("error", "There is no bit 10000: the last is 9999.")
	p.set("go-bit", "9999")
	p.click("#go [type=submit]")
	p.waitText("bit-title", "Bit 9,999 is")
	if got, want := p.bits("set"), inView(9216, 10000); !slices.Equal(got, want) {
		p.Errorf("bits %v are drawn as set at the end, want %v", got, want)
	}
	p.click("#previous")
	p.waitText("page-note", "Bits 8,192 to 9,215")
	if got, want := p.bits("set"), inView(8192, 9216); !slices.Equal(got, want) {
		p.Errorf("bits %v are drawn as set, want %v", got, want)
	}
	p.do(chromedp.Focus(chromedp.CSS(`#grid [tabindex="0"]`)), chromedp.KeyEvent(kb.Home, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	p.waitText("page-note", "Bits 0 to 1,023")
	p.do(chromedp.KeyEvent(kb.PageDown))
	p.waitText("page-note", "Bits 1,024 to 2,047")
	if got := value[string](p, "document.activeElement.dataset.bit"); got != "1024" {
		p.Errorf("page down leads to bit %s, want 1024", got)
	}
	// A tested key is brought into view.
	p.click("#walk-probes tr:nth-child(2) button")
	bit := set(p.T, 1000, 10).Filter().Explain([]byte("apple")).Positions[1]
	p.wait(fmt.Sprintf(`document.activeElement.dataset.bit === "%d"`, bit))
	p.wantText("bit-keys", "apple")
}

// writeFilter writes a filter of n keys, "key 0" and so on, to a file.
func (p *page) writeFilter(n int) (path string, encoded []byte) {
	p.Helper()
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("key %d", i)
	}
	encoded = bloom.Policy{Format: bloom.LevelDB, BitsPerKey: 10}.AppendFilter(nil, bloom.Strings(keys))
	path = filepath.Join(p.TempDir(), "table.filter")
	if err := os.WriteFile(path, encoded, 0o644); err != nil {
		p.Fatal(err)
	}
	return path, encoded
}

// drop sends the page what a browser sends it when somebody drags a file over it and lets go. (The browser's
// own emulation of that loses some drops.) The page has to take both, or the browser would open the file.
func (p *page) drop(path string) {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](`{
		const chosen = Object.assign(document.createElement("input"), { type: "file", id: "dropped", hidden: true });
		document.body.append(chosen);
	}`))
	p.do(chromedp.SetUploadFiles(chromedp.CSS("#dropped"), []string{path}))
	if taken := value[[]bool](p, `(() => {
		const chosen = document.getElementById("dropped");
		const dataTransfer = new DataTransfer();
		dataTransfer.items.add(chosen.files[0]);
		chosen.remove();
		const drag = (type) => document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
		return ["dragover", "drop"].map((type) => !drag(type));
	})()`); !slices.Equal(taken, []bool{true, true}) {
		p.Fatalf("the page takes a file over it and let go: %v", taken)
	}
}

func testDropFile(p *page) {
	p.add("apple")
	path, encoded := p.writeFilter(40)
	p.drop(path)
	p.waitText("file-name", "table.filter")
	p.wantFilter(encoded)
	p.wantText("n-keys", "≈ ")
	p.wantText("n-keys-note", "estimated from the fill")
	if len(p.keys()) != 0 || len(p.bits("probed")) != 0 {
		p.Error("keys of the filter before are left")
	}
	p.test("key 7", "apple")
	p.wantText("walk-answer", "“key 7” may be in the filter")
	p.wantText("results-summary", "1 of 2 keys")

	// Keys can be added to a file, too.
	p.add("apple")
	s, err := bloom.OpenSet(bloom.LevelDB, encoded)
	if err != nil {
		p.Fatal(err)
	}
	s.AddString("apple")
	p.wantFilter(s.AppendFilter(nil))
	p.test("key 7", "apple")
	p.wantText("results-summary", "2 of 2 keys")

	p.click("#close-file")
	p.wait(`document.getElementById("file-note").hidden`)
	p.wantFilter(set(p.T, 48, 10).AppendFilter(nil))
}

// testDropFileOfFormat drops a file that says its format, which is not the one that was chosen.
func testDropFileOfFormat(p *page) {
	s, err := bloom.Policy{Format: bloom.Nori, BitsPerKey: 10}.NewSet(40)
	if err != nil {
		p.Fatal(err)
	}
	s.AddString("apple")
	file, err := s.MarshalBinary()
	if err != nil {
		p.Fatal(err)
	}
	path := filepath.Join(p.TempDir(), "known.bloom")
	if err := os.WriteFile(path, file, 0o644); err != nil {
		p.Fatal(err)
	}
	p.drop(path)
	p.waitText("file-says", ", which says that its format is nori")
	p.wantText("bits-note", "400 bits; every key maps to 7")
	p.wantText("n-keys", "1")
	p.wantText("n-keys-note", "as the file says")
	p.wait(`document.getElementById("format").value === "nori" && document.getElementById("format").disabled`)
	p.wait(`document.getElementById("download").download === "known.bloom.bare"`)
	p.test("apple")
	p.wantText("walk-answer", "“apple” may be in the filter")

	p.click("#close-file")
	p.wait(`document.getElementById("file-note").hidden && !document.getElementById("format").disabled`)

	// Text is no filter.
	if err := os.WriteFile(path, []byte("apple\npear\n"), 0o644); err != nil {
		p.Fatal(err)
	}
	p.drop(path)
	p.waitText("error", "This looks like text, not like a filter.")
}

// testDropWhileBusy drops a file before the answer to another request has come.
func testDropWhileBusy(p *page) {
	path, encoded := p.writeFilter(40)
	p.do(chromedp.Evaluate[chromedp.Void](`{
		const fetchNow = window.fetch;
		window.fetch = async (...question) => {
			await new Promise((resolve) => setTimeout(resolve, 500));
			return fetchNow(...question);
		};
	}`))
	p.choose("probes", "3")
	p.drop(path)
	p.waitText("file-name", "table.filter")
	p.wantFilter(encoded)
}

func testChooseFile(p *page) {
	path, encoded := p.writeFilter(30)
	p.do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{path}))
	p.waitText("file-name", "table.filter")
	p.wantFilter(encoded)

	// A refused file leaves all as it is, also the name in the field.
	other := filepath.Join(p.TempDir(), "other")
	if err := os.WriteFile(other, []byte("apple\npear\n"), 0o644); err != nil {
		p.Fatal(err)
	}
	p.set("numbered", "3")
	p.waitText("n-keys-note", "3 of them added here")
	p.add("apple")
	const all = `JSON.stringify([Array.from(page.filter.bytes), page.wanted.keys, document.getElementById("file").files[0].name, document.getElementById("file").files.length,
		...["format", "capacity", "numbered", "with"].map((id) => [document.getElementById(id).value, document.getElementById(id).disabled]), document.getElementById("file-note").innerText])`
	before := value[string](p, all)
	for _, refuse := range []func(){
		func() { p.do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{other})) },
		func() { p.drop(other) },
	} {
		refuse()
		p.wait(`!document.getElementById("error").hidden`)
		p.wantText("error", "This looks like text, not like a filter.")
		if got := value[string](p, all); got != before {
			p.Errorf("after a refused file the page has %s, and had %s", got, before)
		}
		p.set("numbered", "4")
		p.wait(`document.getElementById("error").hidden`)
		p.set("numbered", "3")
		p.waitText("n-keys-note", "4 of them added here") // and apple
	}

	// A file that is no array of bits is a filter to LevelDB, which holds no key.
	noBits := filepath.Join(p.TempDir(), "no bits")
	if err := os.WriteFile(noBits, []byte{6}, 0o644); err != nil {
		p.Fatal(err)
	}
	p.drop(noBits)
	p.waitText("bits-note", "The filter has no bits")
	p.test("key 7")
	p.wantText("walk-answer", "is not in the filter: the filter has no keys")
}

// testFilterGone asks about a filter that is no longer kept, because others came after it.
func testFilterGone(p *page) {
	path, encoded := p.writeFilter(40)
	forget := func() {
		p.Helper()
		if _, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](`(async () => {
			const { ask } = await import(new URL("ask.js", location));
			for (let i = 0; i < 16; i++) await ask("filter", { format: "leveldb", capacity: 1, bits_per_key: 8, keys: ["other " + i] });
			return true;
		})()`, chromedp.EvalAwaitPromise)); err != nil {
			p.Fatal(err)
		}
	}
	p.drop(path)
	p.waitText("file-name", "table.filter")
	forget()
	p.test("key 7", "apple")
	p.wantText("results-summary", "1 of 2 keys")
	forget()
	p.add("apple")
	s, err := bloom.OpenSet(bloom.LevelDB, encoded)
	if err != nil {
		p.Fatal(err)
	}
	s.AddString("apple")
	p.wantFilter(s.AppendFilter(nil))
}

// timesQuiet is how many times as long as a question without work an answer may take. On an idle machine that
// is about a second, in which people feel that a page follows them. A page whose work grows faster than the
// file takes minutes for one of the largest size, so that the exact limit does not matter to find it.
const timesQuiet = 50

// quiet returns how long the page takes to ask a question whose answer is no work, and to draw a frame.
func (p *page) quiet() time.Duration {
	p.Helper()
	took, err := chromedp.Run(p.ctx, chromedp.Evaluate[float64](`(async () => {
		const { ask } = await import(new URL("ask.js", document.baseURI));
		await new Promise(requestAnimationFrame); // so that at least a frame is in the time
		const start = performance.now();
		await ask("about");
		await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
		return performance.now() - start;
	})()`, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatal(err)
	}
	return time.Duration(took * float64(time.Millisecond))
}

// timed does something to the page and returns how long the page takes from the
// first event of that name until the status says those words and the browser has
// drawn them. The page's own clock tells, so that the driver's time does not count.
func (p *page) timed(event, words string, do func()) time.Duration {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
		window.took = 0;
		const status = document.getElementById("status");
		status.textContent = "";
		addEventListener(%q, () => {
			const start = performance.now();
			const seen = new MutationObserver(() => {
				if (!status.textContent.includes(%q)) return;
				seen.disconnect();
				requestAnimationFrame(() => setTimeout(() => { took = performance.now() - start; }));
			});
			seen.observe(status, { childList: true });
		}, { capture: true, once: true });
	}`, event, words)))
	do()
	p.until(p.isTrue("took > 0"), func() string {
		return fmt.Sprintf("waiting for %q in the status, which is %q", words, p.text("status"))
	})
	return time.Duration(value[float64](p, "took") * float64(time.Millisecond))
}

// wantQuick fails unless one of ten attempts takes few times as long as a quiet question just before it: other
// programs of the machine slow down both, and a page that is too slow is so in all.
func (p *page) wantQuick(what string, attempt func() time.Duration) {
	p.Helper()
	var ratios []float64
	for range 10 {
		quiet := p.quiet()
		ratio := float64(attempt()) / float64(quiet)
		if ratios = append(ratios, ratio); ratio <= timesQuiet {
			p.Logf("%s takes %.1f times as long as a quiet question (%v)", what, ratios, quiet)
			return
		}
	}
	p.Errorf("%s takes %.1f times as long as a quiet question, want %d", what, ratios, timesQuiet)
}

// wantLevels compares the shades of the picture, at every level, with those of the bits read one by one.
func (p *page) wantLevels() {
	p.Helper()
	wrong := value[[]string](p, `(() => {
		const { levels } = picture;
		const wrong = [];
		for (let level = 0; level <= levels.last; level++) {
			const side = 2 ** level, wide = Math.ceil(levels.columns / side);
			const columns = Int32Array.from({ length: wide }, (_, i) => i), shades = new Uint16Array(wide);
			const gain = level < 3 ? 1 : Math.max(1, 0.12 * side / Math.sqrt(levels.mean * (1 - levels.mean)));
			for (let y = 0; y * side < levels.rows; y++) {
				levels.row(level, y, columns, shades);
				for (let x = 0; x < wide; x++) {
					const rows = Math.min(side, levels.rows - y * side);
					let sum = 0;
					for (let r = y * side; r < y * side + rows; r++) {
						for (let c = x * side; c < x * side + side; c++) {
							const bit = r * levels.columns + c;
							if (bit < levels.bits) sum += (levels.array[Math.floor(bit / 8)] >> (bit % 8)) & 1;
						}
					}
					let want = Math.max(0, Math.min(255, 255 * (levels.mean + gain * (sum / (side * rows) - levels.mean))));
					if (y * side * levels.columns + x * side >= levels.bits) want = 256;
					if (Math.abs(shades[x] - want) > 1) wrong.push([level, x, y, shades[x], want].join(" "));
				}
			}
		}
		return [String(levels.last), ...wrong.slice(0, 5)];
	})()`)
	if len(wrong) > 1 || wrong[0] != "5" {
		p.Errorf("the levels up to %s have other shades: %v", wrong[0], wrong[1:])
	}
}

// testLargeFile opens a file of 64 MiB with half of the bits set, tests a key, and moves the picture.
func testLargeFile(p *page) {
	const size = 64 << 20
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data) // never fails
	data[size-1] = 6
	path := filepath.Join(p.TempDir(), "large")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		p.Fatal(err)
	}
	filter, err := bloom.Open(bloom.LevelDB, data)
	if err != nil {
		p.Fatal(err)
	}
	p.Logf("to open it takes %v", p.timed("drop", "536,870,904 bits", func() { p.drop(path) }))
	p.waitText("bits-note", "536,870,904 bits; every key maps to 6.")
	p.wantBits(onesOf(data[:128]))
	p.wantQuick("to test a key", func() time.Duration {
		p.write()
		return p.timed("input", "“stone”", func() { p.write("stone") })
	})
	answer := "“stone” may be in the filter"
	if !filter.MayContainString("stone") {
		answer = "“stone” is certainly not in the filter"
	}
	p.wantText("answer", answer)
	p.wantQuick("to turn the page", func() time.Duration {
		return p.timed("click", "Bits ", func() { p.click("#next") })
	})
	p.wantSmooth()
	p.wantPixels(data)

	// A key can be added to it.
	p.write("stone")
	p.click("#test [type=submit]")
	p.waitText("status", "1 key added")
	p.waitText("answer", "“stone” may be in the filter")
}

// wantSmooth moves and zooms the picture, from all of the filter to single bits, and wants the median frame to
// take few times as long as to fill the canvas pixel by pixel, which is timed in turn: then it is drawn in
// time for 60 a second.
func (p *page) wantSmooth() {
	p.Helper()
	frames, err := chromedp.Run(p.ctx, chromedp.Evaluate[[][2]float64](`(async () => {
		const { canvas } = picture, context = canvas.getContext("2d", { alpha: false });
		const fill = () => {
			const start = performance.now();
			const image = context.createImageData(canvas.width, canvas.height);
			const pixels = new Uint32Array(image.data.buffer);
			for (let i = 0; i < pixels.length; i++) pixels[i] = i;
			context.putImageData(image, 0, 0);
			return performance.now() - start;
		};
		const frames = [];
		await new Promise(requestAnimationFrame);
		picture.whole();
		for (let i = 0; i < 90; i++) {
			picture.move(-7, -3);
			if (i % 3 === 0) picture.zoom(i < 60 ? 2 ** 0.75 : 2 ** -1.5);
			await new Promise(requestAnimationFrame);
			frames.push([picture.took, fill()]);
		}
		return frames;
	})()`, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatal(err)
	}
	var draws, fills []float64
	for _, frame := range frames {
		draws, fills = append(draws, frame[0]), append(fills, frame[1])
	}
	slices.Sort(draws)
	slices.Sort(fills)
	const timesFill = 20
	draw, fill := draws[len(draws)/2], fills[len(fills)/2]
	p.Logf("a frame is drawn in %.1f ms (nine of ten in %.1f), and the canvas filled in %.1f", draw, draws[len(draws)*9/10], fill)
	if draw > timesFill*fill {
		p.Errorf("the median frame takes %.1f ms, more than %d times the %.1f ms that it takes to fill the canvas", draw, timesFill, fill)
	}
}

// wantPixels zooms the picture to single bits, and compares each bit in view with the filter.
func (p *page) wantPixels(data []byte) {
	p.Helper()
	seen := value[[][2]int](p, `(() => {
		picture.whole();
		picture.zoom(1e9);
		picture.goTo(123456789);
		picture.marks = [];
		picture.drawNow();
		const context = picture.canvas.getContext("2d");
		const set = getComputedStyle(document.documentElement).getPropertyValue("--set").trim();
		const seen = [];
		for (let y = picture.scale / 2; y < picture.canvas.height; y += picture.scale) {
			for (let x = picture.scale / 2; x < picture.canvas.width; x += picture.scale) {
				const [r, g, b] = context.getImageData(x, y, 1, 1).data;
				const bit = picture.bitAt(x, y);
				if (bit !== null) seen.push([bit, "#" + [r, g, b].map((c) => c.toString(16).padStart(2, "0")).join("") === set ? 1 : 0]);
			}
		}
		return seen;
	})()`)
	wrong := 0
	for _, pixel := range seen {
		if bit := pixel[0]; int(data[bit/8]>>(bit%8)&1) != pixel[1] {
			wrong++
		}
	}
	if len(seen) < 100 || wrong > 0 {
		p.Errorf("%d of %d bits of the picture are wrong", wrong, len(seen))
	}
}

// testManyProbes opens a file whose header has more probes than can be shown for many keys.
func testManyProbes(p *page) {
	const probes = 4096
	data := make([]byte, 12+1024)
	binary.LittleEndian.PutUint32(data, probes)
	binary.LittleEndian.PutUint64(data[4:], 8*1024)
	path := filepath.Join(p.TempDir(), "probes")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		p.Fatal(err)
	}
	p.choose("format", bloom.NoriCrate.String())
	p.wait(fmt.Sprintf("page.filter.format === %q", bloom.NoriCrate))
	p.drop(path)
	p.waitText("bits-note", "every key maps to 4096")
	p.wantQuick("to test a key of many probes", func() time.Duration {
		p.write()
		return p.timed("input", "“stone”", func() { p.write("stone") })
	})
	p.wantText("answer", "is certainly not in the filter: 4096 of 4096 bits are missing")
	p.wantRows("walk-probes", 256, "there are 3,840 more")

	p.wantQuick("to test more keys", func() time.Duration {
		p.write()
		return p.timed("input", "0 of 30 keys", func() { p.write(numbered(30)...) })
	})
	p.wantRows("results", 30, "")

	keys := numbered(37)
	p.write(keys...)
	p.click("#test [type=submit]")
	p.waitText("error", "37 keys of 4096 probes have more bits than the 150000 that are shown here: choose 36 keys or fewer")
	if n := len(p.keys()); n != 0 || p.text("n-fill") != "0 %" {
		p.Errorf("%d keys are added, and %s of the bits are set", n, p.text("n-fill"))
	}
	p.write(keys[:30]...)
	p.click("#test [type=submit]")
	p.wait(`page.wanted.keys.length === 30`)
}

// numbered returns n keys.
func numbered(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprint("key ", i)
	}
	return keys
}

// wantRows wants n rows of a list or table, and these words about the others.
func (p *page) wantRows(id string, n int, more string) {
	p.Helper()
	if got := value[int](p, fmt.Sprintf(`document.getElementById(%q).children.length`, id)); got != n {
		p.Errorf("%s has %d rows, want %d", id, got, n)
	}
	if got := p.text(id + "-more"); got == "" != (more == "") || !strings.Contains(got, more) {
		p.Errorf("%s says of more rows %q, want %q", id, got, more)
	}
}

// testManyKeys tests as many keys as the page takes.
func testManyKeys(p *page) {
	p.add(numbered(20)...)
	p.wantQuick("to test 5,000 keys", func() time.Duration {
		p.write()
		return p.timed("input", "of 5,000 keys may be", func() { p.write(numbered(5000)...) })
	})
	p.wantRows("results", 256, "The first 256 are shown; there are 4,744 more.")
}

func testDownload(p *page) {
	p.add("apple", "pear")
	dir := p.TempDir()
	_, err := chromedp.CallBrowser(p.ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
		Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir,
	})
	if err != nil {
		p.Fatal(err)
	}
	p.click("#download")
	path := filepath.Join(dir, "leveldb.bloom")
	want := set(p.T, 48, 10, "apple", "pear").AppendFilter(nil)
	var got []byte
	p.until(func() bool {
		got, err = os.ReadFile(path)
		return value[bool](p, "true") && bytes.Equal(got, want)
	}, func() string { return fmt.Sprintf("the download is %x, %v", got, err) })
}

func testBadInput(p *page) {
	p.add("apple")
	before := set(p.T, 48, 10, "apple").AppendFilter(nil)
	wantError := func(words string) {
		p.Helper()
		p.wait(`!document.getElementById("error").hidden`)
		p.waitText("error", words)
		p.wantFilter(before) // nothing is lost
	}
	p.set("bits-per-key", "99")
	wantError("The number of bits per key must be between 1 and 32, and is 99.")
	p.set("bits-per-key", "10")
	p.wait(`document.getElementById("error").hidden`)
	p.set("capacity", "1e99")
	wantError("not understood")
	p.set("capacity", "2.5")
	wantError("Expected keys: enter a whole number.")
	p.set("capacity", "0")
	wantError("The number of expected keys must be between 1 and 10000000, and is 0.")
	p.set("capacity", "48")
	p.wait(`document.getElementById("error").hidden`)

	p.click("#test [type=submit]")
	wantError("There is no key to add")
	p.write(strings.Repeat("k", 257))
	p.click("#test [type=submit]")
	wantError("has 257 bytes, more than the limit of 256")
	p.write()
	for words, file := range map[string]string{
		"This looks like text, not like a filter":            "apple\npear\n",
		"This looks compressed (gzip): decompress it first.": "\x1f\x8b\x08\x00\x00\x00",
		"This looks like a Parquet file, not like a filter":  "PAR1\x15\x04",
		"This looks like a program (ELF), not like a filter": "\x7fELF\x02\x01\x01\x00",
	} {
		path := filepath.Join(p.TempDir(), "file")
		if err := os.WriteFile(path, []byte(file), 0o644); err != nil {
			p.Fatal(err)
		}
		p.drop(path)
		wantError(words)
	}
	if role := value[string](p, `document.getElementById("error").getAttribute("role")`); role != "alert" {
		p.Errorf("errors have the role %q", role)
	}

	// Keys are text, and stay text.
	p.write("<img src=x onerror=alert(1)>")
	p.click("#test [type=submit]")
	p.waitText("answer", "“<img src=x onerror=alert(1)>” may be in the filter")
}

// testServerGone sends a request to a server that does not answer.
func testServerGone(p *page) {
	p.do(chromedp.Evaluate[chromedp.Void](`window.fetch = () => Promise.reject(new TypeError("Failed to fetch"))`))
	p.set("capacity", "50")
	p.waitText("error", "The server does not answer: is bloom explore still running?")
}

// reopen opens the page with a state in the address.
func (p *page) reopen(state string) {
	p.Helper()
	p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(p.url+state))
	p.wait(`document.querySelector("#grid .bit")`)
	p.do(chromedp.Evaluate[chromedp.Void]("window.violations = []"))
}

// testFirstLook opens the page without a state: it says what a filter is and who made the page, begins with
// the default format, and has keys and an answer.
func testFirstLook(p *page) {
	p.reopen("")
	p.waitText("answer", "“stone” is certainly not in the filter")
	want, err := bloom.Policy{Format: bloom.Default, BitsPerKey: 10}.NewSet(10)
	if err != nil {
		p.Fatal(err)
	}
	want.AddBatch(bloom.Strings(p.keys()))
	from, to := want.Filter().BitRange()
	p.wantBits(onesOf(want.AppendFilter(nil)[from:to]))
	p.wantText("n-keys", "10")
	if format := value[string](p, `document.getElementById("format").value`); format != bloom.Default.String() {
		p.Errorf("the page begins with the format %s, want %v", format, bloom.Default)
	}
	words := value[string](p, `document.querySelector("header").innerText`)
	for _, want := range []string{"lanebloom", "Each key sets a few bits. If one of them is clear, the key was never added."} {
		if !strings.Contains(words, want) {
			p.Errorf("the page begins with %q, want %q in it", words, want)
		}
	}
	if home := value[string](p, `document.querySelector("header a").href`); home != "https://github.com/lanebloom/bloom" {
		p.Errorf("the name links to %s", home)
	}
	for property, want := range map[string]string{"site_name": "lanebloom", "title": "Explore a Bloom filter", "description": "Type a key", "image": "https://"} {
		if got := value[string](p, fmt.Sprintf(`document.querySelector('meta[property="og:%s"]').content`, property)); !strings.HasPrefix(got, want) {
			p.Errorf("the preview has the %s %q, want %q", property, got, want)
		}
	}
	if width, err := chromedp.Run(p.ctx, chromedp.Evaluate[int](`(async () => {
		const icon = new Image();
		icon.src = document.querySelector("link[rel=icon]").href;
		await icon.decode();
		return icon.naturalWidth;
	})()`, chromedp.EvalAwaitPromise)); err != nil || width == 0 {
		p.Errorf("the icon is %d pixels wide, %v", width, err)
	}
}

// testPhone wants the bits of a typed key on the first screen of a phone, in filters of every format and of some
// sizes: those of its grid, or the rings of the picture.
func testPhone(p *page) {
	p.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	for i, format := range bloom.Formats() {
		for j, keys := range []int{10, 100, 5000} {
			if (i+j)%2 != 0 {
				continue // each format with every second number, and the other way round
			}
			p.reopen(fmt.Sprintf("#format=%v&n=%d&keys=apple%%0Apear&test=stone", format, keys))
			p.waitText("answer", "“stone” is")
			hidden := value[[]uint64](p, `(() => {
				const onScreen = (e) => e.getBoundingClientRect().height > 0 && e.getBoundingClientRect().bottom <= innerHeight && e.getBoundingClientRect().right <= innerWidth;
				const box = document.getElementById("picture");
				const drawn = (bit) => picture.marks.includes(bit) && picture.place(bit).every((at, i) => at >= 0 && at < [box.width, box.height][i]);
				return page.shown.positions.filter((bit) => {
					const cell = document.querySelector('[data-bit="' + bit + '"]');
					return !(cell && onScreen(cell)) && !(onScreen(box) && drawn(bit));
				});
			})()`)
			if len(hidden) > 0 {
				p.Errorf("%v, %d keys: bits %v of the key are not on the first screen", format, keys, hidden)
			}
		}
	}
	order := value[[]string](p, `["test-keys", "grid", "format", "numbered", "n-keys"].sort((a, b) =>
		document.getElementById(a).getBoundingClientRect().top - document.getElementById(b).getBoundingClientRect().top)`)
	if want := []string{"test-keys", "grid", "format", "numbered", "n-keys"}; !slices.Equal(order, want) {
		p.Errorf("on a phone, the order is %v", order)
	}
	if n := value[int](p, `document.querySelectorAll("#grid .bit").length`); n != 256 {
		p.Errorf("%d bits in view, want 256", n)
	}
}

// testCurve wants a word on the peaks of a curve, and only there.
func testCurve(p *page) {
	for address, want := range map[string]string{
		"#format=leveldb&n=10":   "The rate rises at 16, 19, 25 and 32 bits per key.",
		"#format=parquet&n=10":   "",
		"#format=rocksdb&n=1000": "",
	} {
		p.reopen(address)
		p.wait(`page.points.list.length === 32 && document.querySelectorAll("#curve-table tr").length === 32`)
		if got := p.text("curve-rises"); got == "" != (want == "") || !strings.HasPrefix(got, want) {
			p.Errorf("%s: %q of the curve, want %q", address, got, want)
		}
	}
}

// saidTo has the answers that the first of the two ways to ask got.
var saidTo sync.Map

// testAnswers wants the same answers from the server, in JSON, and from the site, whose code reads and writes
// values of JavaScript itself. The last digits of a rate depend on the CPU.
func testAnswers(p *page) {
	answers, err := chromedp.Run(p.ctx, chromedp.Evaluate[[]string](`(async () => {
		const { ask } = await import(new URL("ask.js", location));
		const say = async (name, question, file) => {
			const { id, file: kept, ...answer } = (await ask(name, question, file))[0] ?? { id: "null" };
			const sorted = (v) => typeof v === "number" ? Number(v.toPrecision(12)) : v === null || typeof v !== "object" ? v : Array.isArray(v) ? v.map(sorted) : Object.fromEntries(Object.keys(v).sort().map((k) => [k, sorted(v[k])]));
			said.push(name + " " + JSON.stringify(sorted(answer)));
			return id;
		};
		const said = [];
		await say("about", {});
		await say("given", {});
		const small = { format: "leveldb", capacity: 10, bits_per_key: 10, keys: ["a", "größe", "a", "\ud800"] };
		const id = await say("filter", small);
		await say("filter", { ...small, keys: null, numbered: { pattern: "user-%08d", count: 20 }, probes: 30, has_file: false, file: "" });
		await say("filter", { format: "nori", has_file: true }, new Uint8Array([10, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 10, 0, 0, 0, 255, 3]));
		await say("test", { filter: id, keys: ["a", "b"] });
		await say("passing", { filter: id, numbered: { pattern: "", count: 0 } });
		await say("curve", { format: "rocksdb", keys: 100, probes: 0, first: 1, last: 4 });
		await say("sizes", { keys: 1000, rate: 0.01 });
		await say("sizes", { bits_per_key: 10, memory: 4096 });
		for (const question of [{ format: 1 }, { format: "leveldb", capacity: 1.5 }, { capacity: 1e300 }, { capacity: "1" }, { keys: "a" }, { keys: [1] }, { has_file: 0 }, { numbered: [] }, { cap: 1 }, [], "x"]) {
			await ask("filter", question).then(() => said.push("an answer to " + JSON.stringify(question)), (e) => said.push(e.message.slice(0, 32) + ", " + e.gone));
		}
		await ask("test", { filter: "none", keys: ["a"] }).catch((e) => said.push(e.message + ", " + e.gone));
		return said;
	})()`, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatal(err)
	}
	if want := "the question is not understood: , false"; answers[len(answers)-2] != want {
		p.Errorf("%q, want %q", answers[len(answers)-2], want)
	}
	first, seen := saidTo.LoadOrStore("", answers)
	if !seen {
		return
	}
	for i, want := range first.([]string) {
		if answers[i] != want {
			p.Errorf("the answer is\n%s, and elsewhere\n%s", answers[i], want)
		}
	}
}

// testType tests keys without a click.
func testType(p *page) {
	p.add("apple")
	p.do(chromedp.SendKeys(chromedp.CSS("#test-keys"), "appl"))
	p.waitText("answer", "“appl” is certainly not in the filter")
	if got, want := p.bits("probed"), sorted(set(p.T, 48, 10).Filter().Explain([]byte("appl")).Positions); !slices.Equal(got, want) {
		p.Errorf("bits %v light up, want %v", got, want)
	}
	p.do(chromedp.SendKeys(chromedp.CSS("#test-keys"), "e"))
	p.waitText("answer", "“apple” may be in the filter")
	p.waitText("status", "“apple” may be in the filter")
	p.do(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierShift)), chromedp.KeyEvent("stone")) // the line of the caret is shown
	p.waitText("answer", "“stone” is certainly not in the filter")
	p.wantText("results-summary", "1 of 2 keys may be in the filter")
	p.write()
	p.wait(`document.querySelectorAll("#results button").length === 0`)
	if !value[bool](p, `document.getElementById("error").hidden`) {
		p.Errorf("no key to test is an error: %s", p.text("error"))
	}
}

// testAddress comes back to a filter by the address.
func testAddress(p *page) {
	p.choose("format", "nori")
	p.set("bits-per-key", "12")
	p.choose("probes", "3")
	p.choose("with", "rocksdb")
	p.add("a & b", "größe", "key=1#2")
	p.test("a & b", "stone")
	p.wait(`location.hash.includes("stone")`)
	state := value[string](p, "location.hash")
	const bytes = "Array.from(page.filter.bytes).join()"
	before := value[string](p, bytes)
	p.reopen(state)
	p.waitText("results-summary", "1 of 2 keys may be in the filter")
	if got := value[string](p, bytes); got != before || !slices.Equal(p.keys(), []string{"a & b", "größe", "key=1#2"}) {
		p.Errorf("the address %s gives other bytes, of %q", state, p.keys())
	}
	for id, want := range map[string]string{"format": "nori", "bits-per-key": "12", "probes": "3", "test-keys": "a & b\nstone", "with": "rocksdb"} {
		if got := value[string](p, fmt.Sprintf("document.getElementById(%q).value", id)); got != want {
			p.Errorf("%s is %q, want %q", id, got, want)
		}
	}
	// Another address in the same tab, and addresses that make no sense.
	p.do(chromedp.Evaluate[chromedp.Void](`location.hash = "#format=leveldb&keys=x"`))
	p.wait(`page.filter.format === "leveldb" && page.wanted.keys.length === 1`)
	for address, words := range map[string]string{
		"#format=cuckoo":                    "The address has “cuckoo” for format, which is not a choice. The page shows the example instead.",
		"#n=0":                              "The number of expected keys must be between 1 and 10000000, and is 0. The page shows the example instead.",
		"#n=many":                           "The address has “many” for n, which is not a choice",
		"#k=31":                             "The address has “31” for k, which is not a choice",
		"#bits-title":                       "The address has “bits-title”, which means nothing here",
		"#keys=" + strings.Repeat("k", 300): "has 300 bytes, more than the limit of 256",
	} {
		p.reopen(address)
		p.waitText("error", words)
		p.wait(`page.wanted.keys.length === 10`) // the example
	}
	// Keys that an address cannot hold are left out.
	p.reopen("#n=5000")
	p.write(numbered(1500)...)
	p.click("#test [type=submit]")
	p.wait("page.wanted.keys.length === 1500")
	p.wait(`location.hash.includes("n=5000") && !location.hash.includes("keys")`)
}

// testNumberedKeys compares numbered keys in LevelDB's format with those in another, and asks which of the
// numbers between them pass.
func testNumberedKeys(p *page) {
	p.add("apple", "pear")
	p.wait(`location.hash.includes("pear")`)
	before, entries := value[string](p, "location.hash"), value[int](p, "history.length")
	p.click("#numbers")
	p.waitText("passing-note", "of 100,000 numbers that are left out are false positives")
	p.wantText("passing-note", "have exactly the hash of an added key")
	share := func(which string) float64 {
		return value[float64](p, fmt.Sprintf("page.passing.%[1]s.passed / page.passing.%[1]s.tested", which))
	}
	if got := share("filter"); got < 0.05 || got > 0.08 {
		p.Errorf("%v of the numbers pass LevelDB's filter; docs/false-positives.md says 0.0623", got)
	}
	if got := share("other"); got < 0.008 || got > 0.011 {
		p.Errorf("%v of the numbers pass RocksDB's filter; docs/false-positives.md says 0.0098", got)
	}
	p.test("stone")
	p.wait(`document.getElementById("compare-rows").innerText.includes("6 lines of 64 bytes")`)
	p.wait(`document.getElementById("compare-rows").innerText.includes("one line of 64 bytes")`)
	p.wait(`location.hash.includes("numbered=100000") && location.hash.includes("with=rocksdb")`)
	p.wantText("n-keys", "100,002") // with those that were typed
	for _, id := range []string{"picture", "picture-filter", "picture-other"} {
		name := value[string](p, fmt.Sprintf(`document.getElementById(%q).getAttribute("aria-label")`, id))
		if !strings.HasPrefix(name, "Picture of 1,000,") {
			p.Errorf("%s is called %q", id, name)
		}
	}
	p.wantLevels()
	// The heat counts the probes of the keys that pass, all of them.
	if got := value[bool](p, `page.passing.filter.counts.reduce((sum, n) => sum + n, 0) === 6 * page.passing.filter.passed`); !got {
		p.Error("the heat has not six probes for each key that passes")
	}
	p.wantRed()

	// It is one step, from which the browser goes back.
	if got := value[int](p, "history.length"); got != entries+1 {
		p.Errorf("%d steps, want 1", got-entries)
	}
	p.do(chromedp.Evaluate[chromedp.Void]("history.back()"))
	p.wait(`document.getElementById("numbered").value === "0" && document.getElementById("with").value === "" && page.filter.bits === 480`)
	if got := p.keys(); value[string](p, "location.hash") != before || !slices.Equal(got, []string{"apple", "pear"}) {
		p.Errorf("the step before has the keys %q and the address %s, want %s", got, value[string](p, "location.hash"), before)
	}

	// The format that is chosen stays, beside LevelDB's.
	p.choose("format", "nori")
	p.wait(`page.filter.format === "nori"`)
	p.click("#numbers")
	p.waitText("passing-note", "leveldb: ")
	p.wantText("passing-note", "nori: ")
	p.wait(`page.filter.format === "nori" && page.other.format === "leveldb"`)
}

// wantRed wants the pictures of a comparison to be red by the shares of the keys that pass: on average, for most
// parts have less than the full red.
func (p *page) wantRed() {
	p.Helper()
	seen := value[[2]float64](p, `["filter", "other"].map((which) => {
		const { width, height } = document.getElementById("picture-" + which);
		const drawn = compared[which === "filter" ? 0 : 1];
		const red = () => {
			drawn.drawNow();
			const { data } = drawn.canvas.getContext("2d").getImageData(0, 0, width, height);
			let sum = 0;
			for (let i = 0; i < data.length; i += 4) sum += data[i] - data[i + 2];
			return sum;
		};
		const { heat } = drawn;
		const hot = red();
		drawn.heat = null;
		const excess = (hot - red()) / (width * height);
		drawn.heat = heat;
		drawn.drawNow();
		return excess;
	})`)
	shares := value[[2]float64](p, `["filter", "other"].map((which) => page.passing[which].passed / page.passing[which].tested)`)
	red, share := seen[0]/seen[1], shares[0]/shares[1]
	if !(red > 0.6*share && red < 1.4*share) {
		p.Errorf("the first picture is %.2f times as red (%.2f), and %.2f times as many keys pass", red, seen, share)
	}
}

// testCalculate calculates in some directions.
func testCalculate(p *page) {
	row := func(format string) string {
		return value[string](p, fmt.Sprintf(`[...document.querySelectorAll("#calc-sizes tr")].map((e) => e.innerText).find((t) => t.startsWith(%q + "\t")) ?? ""`, format))
	}
	field := func(name string) string {
		return value[string](p, fmt.Sprintf("document.getElementById('calc-%s').value", name))
	}
	wantRow := func(format, want string) {
		p.Helper()
		p.wait(fmt.Sprintf(`document.getElementById("calc-sizes").innerText.replaceAll("\u00a0", " ").includes(%q)`, want))
		if got := strings.ReplaceAll(row(format), "\u00a0", " "); !strings.Contains(got, want) {
			p.Errorf("%s: %q, want %q", format, got, want)
		}
	}
	p.choose("format", "nori")
	wantRow("nori", "1,000,000\t10\t7\t0.82 %\t1.19 MiB")
	p.set("calc-keys", "1e8")
	p.set("calc-rate", "1%")
	wantRow("nori", "100,000,000\t10\t7\t0.82 %\t119.2 MiB")
	wantRow("leveldb", "none: false-positive rate out of reach")
	if got := field("memory"); got != "119.2 MiB" {
		p.Errorf("the memory that follows is %q", got)
	}
	p.set("calc-memory", "64MiB") // with the rate: the field that was written before
	wantRow("nori", "53,687,091\t10\t7\t0.82 %\t64 MiB")
	p.set("calc-bits_per_key", "16")
	wantRow("nori", "33,554,432\t16\t12")
	p.set("calc-keys", "1,000")
	wantRow("nori", "1,000\t16\t12")
	if got := field("memory"); got != "1.95 KiB" {
		p.Errorf("the memory that follows is %q", got)
	}
	if rows := value[int](p, `document.querySelectorAll("#calc-sizes tr").length`); rows != value[int](p, "page.about.formats.length") {
		p.Errorf("%d rows, want one for each format", rows)
	}
	p.set("calc-keys", "lots")
	p.waitText("calc-note", "A number of keys is whole")
	p.set("calc-keys", "1e8")
	wantRow("nori", "100,000,000\t16")
}

// testNames checks that everything that a screen reader reads out has a name.
func testNames(p *page) {
	p.choose("with", "rocksdb")
	p.add("apple")
	p.test("apple", "stone")
	p.click(`[data-bit="3"]`)
	p.wait(`document.querySelector("#curve svg")`)
	tree, err := chromedp.Call(p.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		p.Fatal(err)
	}
	seen := map[string]int{}
	for _, node := range tree.Nodes {
		if node.Ignored || node.Role == nil {
			continue
		}
		role := strings.Trim(string(node.Role.Value), `"`)
		switch role {
		case "application", "button", "textbox", "combobox", "spinbutton", "gridcell", "grid", "link", "heading", "region", "image", "columnheader":
			seen[role]++
			if node.Name == nil || strings.Trim(string(node.Name.Value), `"`) == "" {
				p.Errorf("a %s (node %v) has no name", role, node.BackendDOMNodeID)
			}
		}
	}
	for role, least := range map[string]int{"button": 10, "textbox": 2, "combobox": 4, "spinbutton": 3, "link": 1, "gridcell": 480, "grid": 1, "heading": 9, "image": 3} {
		if seen[role] < least {
			p.Errorf("%d nodes with the role %s, want %d or more", seen[role], role, least)
		}
	}
}

// testNarrow checks that the page does not scroll sideways on a phone.
func testNarrow(p *page) {
	p.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile))
	p.set("capacity", "1000")
	p.waitText("bits-note", "10,000 bits")
	p.choose("with", "rocksdb")
	p.wait("page.other !== null")
	p.add("apple", strings.Repeat("long ", 40))
	p.test("apple", strings.Repeat("long ", 40), "stone")
	if width := value[int](p, "document.documentElement.scrollWidth"); width > 360 {
		p.Errorf("the page is %d pixels wide on a screen of 360", width)
	}
	for _, name := range []string{"name-filter", "name-other", "picture-filter", "picture-other"} { // both at once
		if right := value[float64](p, fmt.Sprintf(`document.getElementById(%q).getBoundingClientRect().right`, name)); right > 360 {
			p.Errorf("%s ends at %v pixels on a screen of 360", name, right)
		}
	}
	if cut := value[int](p, `[...document.querySelectorAll(".both :is(th, td)")].filter((e) => e.getBoundingClientRect().right > 360 || e.scrollWidth > e.clientWidth).length`); cut > 0 {
		p.Errorf("%d cells of the comparison are cut off", cut)
	}
	if columns := value[int](p, `document.querySelector("#grid [role=row]").children.length`); columns != 16 {
		p.Errorf("%d bits in a row, want 16", columns)
	}
	if size := value[float64](p, `document.querySelector("#grid .bit").getBoundingClientRect().width`); size < 15 {
		p.Errorf("a bit is %v pixels wide", size)
	}
}

// testContrast checks the contrast (WCAG 2.2) between colours that must differ, in both
// themes.
func testContrast(p *page) {
	for _, theme := range []string{"light", "dark"} {
		p.do(colours(theme))
		for _, pair := range []struct {
			a, b  string
			least float64
		}{
			{"ink", "card", 7}, {"ink", "page", 7}, {"soft", "card", 4.5}, {"soft", "page", 4.5},
			{"missing", "card", 4.5}, {"missing", "missing-ground", 4.5}, {"ink", "missing-ground", 4.5},
			{"on-set", "set", 4.5}, {"on-accent", "accent", 4.5}, {"accent", "card", 4.5},
			{"set", "clear", 4.5}, {"set", "card", 4.5}, {"quiet", "card", 1.4}, {"quiet", "clear", 1.3}, {"may", "card", 3}, {"may", "set", 3}, {"edge", "card", 3}, {"focus", "card", 3},
		} {
			colours := value[[2]string](p, fmt.Sprintf(
				`["--%s", "--%s"].map((name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim())`, pair.a, pair.b))
			if got := contrast(p.T, colours[0], colours[1]); got < pair.least {
				p.Errorf("%s: the contrast of %s (%s) and %s (%s) is %.2f, want %.1f", theme, pair.a, colours[0], pair.b, colours[1], got, pair.least)
			}
		}
	}
}

// contrast returns the ratio of the luminances of two colours, #rrggbb.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(colour string) float64 {
		var r, g, b uint8
		if _, err := fmt.Sscanf(colour, "#%02x%02x%02x", &r, &g, &b); err != nil {
			t.Fatalf("colour %q: %v", colour, err)
		}
		linear := func(c uint8) float64 {
			v := float64(c) / 255
			if v <= 0.04045 {
				return v / 12.92
			}
			return math.Pow((v+0.055)/1.055, 2.4)
		}
		return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
	}
	low, high := luminance(a), luminance(b)
	if low > high {
		low, high = high, low
	}
	return (high + 0.05) / (low + 0.05)
}
