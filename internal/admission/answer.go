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

// mostLines is the maximum number of lines of an answer.
const mostLines = 10

// proven is a context key.
type proven struct{}

// Proven marks the context of a request that was proven to come from the API server. The API server
// passes the answer only to clients that may write the VectorSidecar.
func Proven(ctx context.Context) context.Context { return context.WithValue(ctx, proven{}, true) }

func isProven(ctx context.Context) bool { return ctx.Value(proven{}) != nil }

// remark is a message about a VectorSidecar.
type remark struct {
	// reason is one of the reasons in package meta, or "".
	reason string
	text   string
	// isOld is true if the remark also applied before the change.
	isOld bool
}

// String returns the text for the user.
func (r remark) String() string {
	if r.isOld {
		return "as before: " + r.text
	}
	return r.text
}

func isIn(remarks []remark) func(remark) bool {
	return func(candidate remark) bool {
		return slices.ContainsFunc(remarks, func(r remark) bool { return r.text == candidate.text })
	}
}

// demoteOldFaults turns faults that existed before into doubts.
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

// redactPrivate keeps the text of public remarks, and replaces the text of other remarks with their reason.
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

// answer returns the response, which denies the request if there are faults. Doubts become
// warnings.
func (j *review) answer() admission.Response {
	response := admission.Allowed("").WithWarnings(lines(j.doubts, true)...)
	if len(j.faults) == 0 {
		return response
	}
	response.Allowed = false
	response.Result = &metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid,
		Message: strings.Join(lines(j.faults, false), "\n"),
	}
	return response
}

// lines returns the first remarks without duplicates, and the number of omitted ones. Remarks for a
// header have one line each.
func lines(remarks []remark, ofHeader bool) []string {
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
