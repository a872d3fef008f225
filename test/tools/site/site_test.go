// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package site reads the documentation site that make docs has built, with the browser that the variable BROWSER names.
package site

import (
	"bytes"
	"context"
	"encoding/json"
	"image/png"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/chromedp"
)

// folder has the built site.
const folder = "../../../bin/docs/site"

// policy makes the browser block and report each request to another host.
const policy = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; report-uri /report"

// site is the served site and the browser.
type site struct {
	t       *testing.T
	browser context.Context
	address string
	blocked chan string // addresses of blocked requests
}

// openSite serves the site on a loopback address and starts the browser.
func openSite(t *testing.T) *site {
	t.Helper()
	opened := &site{t: t, blocked: make(chan string, 1000)}
	files := http.FileServer(http.Dir(folder))
	handler := http.NewServeMux()
	handler.HandleFunc("POST /report", func(_ http.ResponseWriter, request *http.Request) {
		var report struct {
			Body struct {
				Blocked string `json:"blocked-uri"`
			} `json:"csp-report"`
		}
		text, err := io.ReadAll(request.Body)
		if err == nil {
			err = json.Unmarshal(text, &report)
		}
		if err != nil {
			t.Errorf("reading report %q: %v", text, err)
		}
		opened.blocked <- report.Body.Blocked
	})
	handler.HandleFunc("GET /outside", func(writer http.ResponseWriter, _ *http.Request) {
		writer.Header().Set("Content-Security-Policy", policy)
		writer.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(writer, `<script src="https://outside.invalid/script.js"></script>`)
	})
	handler.HandleFunc("GET /", func(writer http.ResponseWriter, request *http.Request) {
		writer.Header().Set("Content-Security-Policy", policy)
		files.ServeHTTP(writer, request)
	})
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	opened.address = server.URL + "/"
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithAllocatorOptions(
		chromedp.ExecPath(os.Getenv("BROWSER")), chromedp.NoSandbox, chromedp.WindowSize(1300, 1000), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")))
	t.Cleanup(cancel)
	opened.browser = ctx
	return opened
}

// read is what the browser finds on a page.
type read struct {
	Links, IDs []string
	// Broken has the addresses of images that the browser could not draw.
	Broken []string
}

// page reads one page of the site.
func (s *site) page(name string) read {
	s.t.Helper()
	s.do(chromedp.Navigate(s.address + name))
	return run(s, chromedp.Evaluate[read](`({
		Links: [...new Set([...document.querySelectorAll("a[href]")].map(link => link.href))],
		IDs: [...document.querySelectorAll("[id]")].map(element => element.id),
		Broken: [...document.images].filter(image => !image.naturalWidth).map(image => image.src)})`))
}

func (s *site) do(steps ...chromedp.Action[chromedp.Void]) {
	s.t.Helper()
	if err := chromedp.Do(s.browser, steps...); err != nil {
		s.t.Fatal(err)
	}
}

func run[T any](s *site, action chromedp.Action[T]) T {
	s.t.Helper()
	value, err := chromedp.Run(s.browser, action)
	if err != nil {
		s.t.Fatal(err)
	}
	return value
}

// Each page is at most two clicks away from the start page, no link is broken, each diagram and image is drawn, and the browser
// sends requests to the site only.
func TestSite_HasNoBrokenLinksOrDiagrams(t *testing.T) {
	s := openSite(t)
	pages, clicks := map[string]read{}, map[string]int{"": 0}
	for names := []string{""}; len(names) > 0; names = names[1:] {
		name := names[0]
		pages[name] = s.page(name)
		for _, link := range pages[name].Links {
			target, isOnSite := strings.CutPrefix(link, s.address)
			target, _, _ = strings.Cut(target, "#")
			if _, isKnown := clicks[target]; !isOnSite || isKnown || path.Ext(target) != "" {
				continue
			}
			clicks[target] = clicks[name] + 1
			names = append(names, target)
		}
		s.hasDiagrams(name)
	}
	for name, page := range pages {
		if clicks[name] > 2 {
			t.Errorf("page %q is %d clicks away from the start page", name, clicks[name])
		}
		if len(page.Broken) > 0 {
			t.Errorf("page %q has images that are not drawn: %q", name, page.Broken)
		}
		for _, link := range page.Links {
			if target, isOnSite := strings.CutPrefix(link, s.address); isOnSite {
				s.hasTarget(pages, name, target)
			}
		}
	}
	built := 0
	if err := fs.WalkDir(os.DirFS(folder), ".", func(name string, _ fs.DirEntry, err error) error {
		if path.Base(name) == "index.html" {
			built++
			if _, ok := pages[strings.TrimSuffix(name, "index.html")]; !ok {
				t.Errorf("no page links to %q", name)
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Logf("read %d pages", built)
	s.sentNothingOutside()
}

// The picture of the start page shows the site to people. It has the size of the window.
func TestSite_TakesPictureOfStartPage(t *testing.T) {
	s := openSite(t)
	s.page("")
	text := run(s, chromedp.CaptureScreenshot())
	picture, err := png.DecodeConfig(bytes.NewReader(text))
	if err != nil || picture.Width < 1000 {
		t.Fatalf("reading the picture of %d pixels width: %v", picture.Width, err)
	}
	if err := os.WriteFile("../../../bin/docs/site.png", text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// hasTarget checks the page, the file and the anchor that a link names.
func (s *site) hasTarget(pages map[string]read, from, target string) {
	name, anchor, hasAnchor := strings.Cut(target, "#")
	page, ok := pages[name]
	if !ok {
		if info, err := os.Stat(path.Join(folder, name)); err != nil || info.IsDir() {
			s.t.Errorf("page %q links to %q, which is not on the site", from, target)
		}
		return
	}
	if !hasAnchor || anchor == "" {
		return
	}
	for _, id := range page.IDs {
		if id == anchor {
			return
		}
	}
	s.t.Errorf("page %q links to %q, which has no such anchor", from, target)
}

// hasDiagrams waits until the current page has a drawing for each diagram of the file.
func (s *site) hasDiagrams(name string) {
	text, err := os.ReadFile(path.Join(folder, name, "index.html"))
	if err != nil {
		s.t.Fatal(err)
	}
	diagrams := strings.Count(string(text), `<pre class="mermaid">`)
	if diagrams == 0 {
		return
	}
	if _, err := chromedp.Run(s.browser, chromedp.Poll[bool](`document.querySelectorAll("pre.mermaid").length === 0`, chromedp.WithPollingTimeout(0))); err != nil {
		s.t.Fatalf("drawing the diagrams of page %q: %v", name, err)
	}
	drawn := run(s, func(ctx context.Context, target *chromedp.Target) (int, error) {
		depth, pierce := int64(-1), true // The generator draws into closed shadow roots.
		document, err := cdp.Call(ctx, target, dom.GetDocument, dom.GetDocumentParams{Depth: &depth, Pierce: &pierce})
		if err != nil {
			return 0, err
		}
		return countDrawings(document.Root), nil
	})
	if drawn != diagrams {
		s.t.Errorf("page %q has %d drawings of %d diagrams", name, drawn, diagrams)
	}
}

// countDrawings returns the number of nodes below a node that Mermaid has drawn.
func countDrawings(node *cdp.Node) int {
	count := 0
	for i := 0; i+1 < len(node.Attributes); i += 2 {
		if node.LocalName == "svg" && node.Attributes[i] == "aria-roledescription" {
			count++
		}
	}
	for _, children := range [][]*cdp.Node{node.Children, node.ShadowRoots} {
		for _, child := range children {
			count += countDrawings(child)
		}
	}
	return count
}

// sentNothingOutside checks that no request went to another host. A page that sends one shows that the browser reports it.
func (s *site) sentNothingOutside() {
	s.t.Helper()
	s.do(chromedp.Navigate(s.address + "outside"))
	for {
		select {
		case blocked := <-s.blocked:
			if strings.HasPrefix(blocked, "https://outside.invalid/") {
				return
			}
			s.t.Errorf("a page sent a request to %s", blocked)
		case <-time.After(time.Minute):
			s.t.Fatal("the browser reports no request to another host")
		}
	}
}
