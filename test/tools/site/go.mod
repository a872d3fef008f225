// The test of the documentation site is apart so that the browser's protocol stays out of the operator's dependencies.
module kontroloop.ai/vector-sidecar-operator/test/tools/site

go 1.26.0

require (
	github.com/chromedp/cdproto v0.160.1
	github.com/chromedp/chromedp v0.23.1
)

require github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
