{{- /*
SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
SPDX-License-Identifier: Apache-2.0
*/}}
{{- /* Returns "true" if Vector removes log files, and "" otherwise. */}}
{{- define "vector-sidecar.cleans" }}
{{- $logs := .Values.sidecar.logs }}
{{- if and $logs.path (default dict $logs.cleanup).rotated (include "vector-sidecar.rendersConfig" .) }}true{{ end }}
{{- end }}

{{- /*
Returns the reason why Vector does not remove log files although cleanup.rotated is set. Returns "" if Vector removes
them, or if cleanup.rotated is not set.
*/}}
{{- define "vector-sidecar.cleanupWarning" }}
{{- $logs := .Values.sidecar.logs }}
{{- if and $logs.path (default dict $logs.cleanup).rotated (not (include "vector-sidecar.cleans" .)) }}
{{- print "the sidecar removes no log files: sidecar.logs.cleanup needs a rendered configuration" }}
{{- end }}
{{- end }}

{{- /*
Returns the source that removes rotated log files, as a YAML map. Another source reads these files and keeps them
open. The events of this source have no sink, and it reads each file only from its end. It identifies files by their
inodes, so that it does not open files to identify them.
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
Fails if a pattern of cleanup.rotated matches a file that the application still writes. The patterns of logs.include
decide this: a pattern is for written files if it neither starts with another pattern nor contains [0-9].
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
{{- fail (printf "the pattern %s of sidecar.logs.cleanup.rotated also matches %s, a file of the pattern %s of sidecar.logs.include: Vector would remove a file that the application still writes; use a pattern for rotated files only, such as *.log.*" $rotated $name $live) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Returns a regular expression for a pattern of file names. */}}
{{- define "vector-sidecar.globPattern" }}
{{- $quoted := regexQuoteMeta . | replace "\\*" "[^/]*" | replace "\\?" "[^/]" | replace "\\[!" "[^" | replace "\\[" "[" | replace "\\]" "]" }}
{{- printf "^%s$" $quoted }}
{{- end }}

{{- /*
Fails if Vector would remove files with events that a sink has not acknowledged yet. Takes a map with root and sinks.
*/}}
{{- define "vector-sidecar.requireNoAcknowledgements" }}
{{- $logs := .root.Values.sidecar.logs }}
{{- if not $logs.cleanup.evenUnacknowledged }}
{{- $acknowledged := list }}
{{- range $id, $sink := .sinks }}
{{- if dig "acknowledgements" "enabled" false $sink }}{{ $acknowledged = append $acknowledged $id }}{{ end }}
{{- end }}
{{- with $acknowledged }}
{{- fail (printf "sidecar.logs.cleanup also removes files with lines that were not delivered, but the sink %s guarantees delivery by acknowledgements: leave cleanup.rotated empty and limit the files in the application, set acknowledgements: {enabled: false} in the sink, or accept lost lines with cleanup.evenUnacknowledged: true" (join " and " .)) }}
{{- end }}
{{- end }}
{{- end }}
