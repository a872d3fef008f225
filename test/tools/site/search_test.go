// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package site

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// search types words into the search dialog and returns the addresses of the results when there are some.
const search = `(async words => {
	const wait = async condition => { while (!condition()) await new Promise(requestAnimationFrame) };
	const dialog = () => [...document.body.children].map(element => element.shadowRoot).find(root => root?.querySelector("input"));
	document.querySelector(".md-search__button").click();
	await wait(dialog);
	const input = dialog().querySelector("input"), results = () => [...dialog().querySelectorAll("ol li > a[href]")].map(link => link.href);
	const type = text => { input.value = text; input.dispatchEvent(new Event("input", {bubbles: true})) };
	type("");
	await wait(() => results().length === 0);
	type(words);
	await wait(() => results().length > 0);
	return results();
})(%)`

// For each search, the page with the answer is among the first five results.
func TestSite_FindsPagesBySearch(t *testing.T) {
	questions := []struct{ question, words, page string }{
		// Of a new user.
		{"How do I install the operator?", "install helm", "introduction/"},
		{"What does it change in a pod?", "pod before and after", "concepts/"},
		{"Why has my workload no sidecar?", "workload has no sidecar", "application-teams/no-sidecar/"},
		{"Does my sidecar work?", "check sidecar works", "application-teams/check-sidecar/"},
		{"How does it read my log files?", "log files volume", "how-to/sidecar/log-files/"},
		{"How do I send logs elsewhere?", "sinks", "how-to/sidecar/sidecar/"},
		{"How does the sidecar get a password?", "credentials", "how-to/sidecar/credentials/"},
		{"Can I see a change before it happens?", "preview change", "how-to/rollouts/preview/"},
		{"How much memory does a sidecar need?", "sidecar memory size", "how-to/sidecar/sizing/"},
		{"Can StatefulSets have sidecars?", "StatefulSet", "how-to/workloads/workloads/"},
		// Of an engineer on call.
		{"How do I stop all writes?", "stop all writes", "how-to/rollouts/rollouts/"},
		{"What does this alert mean?", "VectorSidecarOperatorWithoutLeader", "runbooks/VectorSidecarOperatorWithoutLeader/"},
		{"What does this reason mean?", "WaitingForSlot", "reference/status/"},
		{"Why is the rollout halted?", "rollout halted", "troubleshooting/symptoms/"},
		{"How do I undo a change of the installation?", "undo change", "how-to/rollouts/revisions/"},
		{"How do I retry a failed rollout?", "retry failed rollout", "how-to/rollouts/rollout-failures/"},
		{"Are events lost?", "events lost", "runbooks/VectorSidecarDiscardsEvents/"},
		{"How do I roll back an upgrade?", "roll back upgrade", "how-to/operate/upgrade/"},
		{"The certificate of the webhook expires", "certificate expires", "runbooks/VectorSidecarAdmissionCertificateExpires/"},
		{"How do I uninstall?", "uninstall", "how-to/operate/uninstall/"},
	}
	s := openSite(t)
	start := s.page("")
	for _, q := range questions {
		words, err := json.Marshal(q.words)
		if err != nil {
			t.Fatal(err)
		}
		var pages []string
		for _, result := range run(s, chromedp.Evaluate[[]string](strings.Replace(search, "%", string(words), 1), chromedp.EvalAwaitPromise)) {
			page, _, _ := strings.Cut(strings.TrimPrefix(result, s.address), "?")
			if !slices.Contains(pages, page) {
				pages = append(pages, page)
			}
		}
		if i := slices.Index(pages, q.page); i < 0 || i > 4 {
			t.Errorf("%s: a search for %q has page %q as result %d of %q", q.question, q.words, q.page, i+1, pages)
		}
		clicks := 2 // TestSite_HasNoBrokenLinksOrDiagrams requires at most that for each page.
		if slices.Contains(start.Links, s.address+q.page) {
			clicks = 1
		}
		t.Logf("%s %s, clicks %d, search result %d", q.question, q.page, clicks, slices.Index(pages, q.page)+1)
	}
	s.sentNothingOutside()
}
