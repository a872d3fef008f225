// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// mostLines is the maximum number of lines in an answer.
const mostLines = 10

// apiServerKey is the type of the context key that WithAPIServer sets.
type apiServerKey struct{}

// WithAPIServer returns a context for a request that certainly comes from the API server. The API server shows the
// answer only to clients that may write the VectorSidecar.
func WithAPIServer(ctx context.Context) context.Context {
	return context.WithValue(ctx, apiServerKey{}, true)
}

// isFromAPIServer reports whether WithAPIServer returned the context.
func isFromAPIServer(ctx context.Context) bool { return ctx.Value(apiServerKey{}) != nil }

// remark is a message about a VectorSidecar for the user.
type remark struct {
	// reason is a reason that is declared in package meta, or "" for none.
	reason string
	text   string
	// isOld reports whether the remark also applies to the old object of an update.
	isOld bool
}

// String returns the text that the user sees.
func (r remark) String() string {
	if r.isOld {
		return "existed before this change: " + r.text
	}
	return r.text
}

// isIn returns a function that reports whether a remark has the same text as one of the given remarks.
func isIn(remarks []remark) func(remark) bool {
	return func(candidate remark) bool {
		return slices.ContainsFunc(remarks, func(r remark) bool { return r.text == candidate.text })
	}
}

// demoteOldFaults turns the faults that are also remarks about the old object into doubts.
func (j *review) demoteOldFaults(oldRemarks []remark) {
	isOld := isIn(oldRemarks)
	for _, fault := range j.faults {
		if isOld(fault) {
			fault.isOld = true
			j.doubts = append(j.doubts, fault)
		}
	}
	j.faults = slices.DeleteFunc(j.faults, isOld)
}

// redactPrivate replaces the text of each remark that the public review does not have by the reason of the remark.
func (j *review) redactPrivate(public review, sidecar *v1alpha1.VectorSidecar) {
	isPublic := isIn(slices.Concat(public.faults, public.doubts))
	for _, remarks := range [][]remark{j.faults, j.doubts} {
		for i := range remarks {
			if isPublic(remarks[i]) {
				continue
			}
			text := desired.Describe(sidecar)
			if remarks[i].reason != "" {
				text += ": " + remarks[i].reason
			}
			remarks[i].text = text + ": the message may quote ConfigMaps, so it is shown only to users who may read them: kubectl vectorsidecar plan -n " + sidecar.Namespace + " --sidecar FILE"
		}
	}
}

// answer returns the response to the request. If the review has faults, the response denies the request, with the
// faults as its message. Doubts become warnings in either case.
func (j *review) answer() admission.Response {
	response := admission.Allowed("").WithWarnings(remarkLines(j.doubts, true)...)
	if len(j.faults) == 0 {
		return response
	}
	response.Allowed = false
	response.Result = &metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid,
		Message: strings.Join(remarkLines(j.faults, false), "\n"),
	}
	return response
}

// remarkLines returns the texts of the remarks without duplicates, at most mostLines. If there are more, the last line
// is the number of the others. If ofHeader is true, each text is cut to one line, because it is written into a header.
func remarkLines(remarks []remark, ofHeader bool) []string {
	var texts []string
	for _, remark := range remarks {
		text := humanize.EscapeBlock(remark.String())
		if ofHeader {
			text = humanize.EscapeLine(strings.Join(strings.Fields(remark.String()), " "))
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return humanize.TruncateList(texts, mostLines, len(texts))
}
