{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /* "true" where Vector removes log files, else empty. */}}
{{- define "vector-sidecar.cleans" }}
{{- $logs := .Values.sidecar.logs }}
{{- if and $logs.path (default dict $logs.cleanup).rotated (include "vector-sidecar.rendersConfig" .) }}true{{ end }}
{{- end }}

{{- /* Why files are not removed although that is asked for, empty if they are or nobody asked. */}}
{{- define "vector-sidecar.cleanupWarning" }}
{{- $logs := .Values.sidecar.logs }}
{{- if and $logs.path (default dict $logs.cleanup).rotated (not (include "vector-sidecar.cleans" .)) }}
{{- print "the sidecar removes no log files: sidecar.logs.cleanup needs a rendered configuration" }}
{{- end }}
{{- end }}

{{- /*
The source that removes log files: a YAML map. Those are read by another one, which keeps them
open: what this one reads, from their ends, goes nowhere. It tells files by their inodes, so
that it opens none to know it.
*/}}
{{- define "vector-sidecar.cleanupSource" }}
{{- $logs := .Values.sidecar.logs }}
{{- $folder := trimSuffix "/" $logs.path }}
{{- include "vector-sidecar.requireRotated" $logs }}
{{- $include := list }}
{{- range $logs.cleanup.rotated }}{{ $include = append $include (printf "%s/%s" $folder .) }}{{ end }}
{{- $after := $logs.cleanup.removeAfter }}
{{- $number := regexFind "^[0-9]+" $after | int }}
{{- $seconds := mul $number (get (dict "s" 1 "m" 60 "h" 3600) (trimPrefix (toString $number) $after)) }}
{{- dict "type" "file" "include" $include "read_from" "end" "ignore_checkpoints" true "remove_after_secs" (int $seconds)
  "fingerprint" (dict "strategy" "device_and_inode") | toYaml }}
{{- end }}

{{- /*
Fails where a pattern of cleanup.rotated matches a file that is written to, as far as the patterns
of include tell: those that neither begin with another one nor have [0-9] are for such files.
*/}}
{{- define "vector-sidecar.requireRotated" }}
{{- $logs := . }}
{{- range $rotated := $logs.cleanup.rotated }}
{{- range $live := $logs.include }}
{{- $isLive := not (contains "[0-9" $live) }}
{{- range $other := $logs.include }}
{{- if and (ne $other $live) (hasPrefix $other $live) }}{{ $isLive = false }}{{ end }}
{{- end }}
{{- $name := $live | replace "*" "app" | replace "?" "a" }}
{{- if and $isLive (regexMatch (include "vector-sidecar.globPattern" $rotated) $name) }}
{{- fail (printf "sidecar.logs.cleanup.rotated has %s, which matches %s as well, a name of sidecar.logs.include's %s: Vector would remove a file that is written to; name rotated files alone, such as *.log.*" $rotated $name $live) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* A regular expression for a pattern of file names. */}}
{{- define "vector-sidecar.globPattern" }}
{{- $quoted := regexQuoteMeta . | replace "\\*" "[^/]*" | replace "\\?" "[^/]" | replace "\\[!" "[^" | replace "\\[" "[" | replace "\\]" "]" }}
{{- printf "^%s$" $quoted }}
{{- end }}

{{- /* Fails where files would be removed that a sink still has to acknowledge, from a map of root and sinks. */}}
{{- define "vector-sidecar.requireNoAcknowledgements" }}
{{- $logs := .root.Values.sidecar.logs }}
{{- if not $logs.cleanup.evenUnacknowledged }}
{{- $acknowledged := list }}
{{- range $id, $sink := .sinks }}
{{- if dig "acknowledgements" "enabled" false $sink }}{{ $acknowledged = append $acknowledged $id }}{{ end }}
{{- end }}
{{- with $acknowledged }}
{{- fail (printf "sidecar.logs.cleanup removes files whether their lines were delivered or not, and the sink %s promises by its acknowledgements that none is lost: leave cleanup.rotated empty and have the application bound its files, set acknowledgements: {enabled: false} in the sink, or accept what may be lost with cleanup.evenUnacknowledged: true" (join " and " .)) }}
{{- end }}
{{- end }}
{{- end }}
