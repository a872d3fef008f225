// The CustomResourceDefinitions of others whose objects the chart makes: of the
// Prometheus Operator and of cert-manager. make copies them from these modules.
module kontroloop.ai/vector-sidecar-operator/test/tools/crds

go 1.26.0

require (
	github.com/cert-manager/cert-manager v1.21.2
	github.com/prometheus-operator/prometheus-operator v0.94.1
)

require (
	github.com/alecthomas/kingpin/v2 v2.4.0 // indirect
	github.com/alecthomas/units v0.0.0-20240927000941-0f3dac36c52b // indirect
	github.com/prometheus/common v0.71.0 // indirect
	github.com/xhit/go-str2duration/v2 v2.1.0 // indirect
)
