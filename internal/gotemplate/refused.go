// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

// refusal explains why a function of Helm is not available here.
type refusal struct {
	why     string
	instead string
}

// refusals are functions of Helm and sprig with a result that depends on more than the values, and functions that
// create or handle key material. A sidecar that differs between two renderings would restart its pods without need.
func refusals() map[string]refusal {
	refused := map[string]refusal{}
	because := func(why, instead string, names ...string) {
		for _, name := range names {
			refused[name] = refusal{why: why, instead: instead}
		}
	}
	const fixed = "write the value into the values file"
	because("it reads the clock", fixed,
		"now", "ago", "date", "date_in_zone", "dateInZone", "htmlDate", "htmlDateInZone")
	because("it handles dates, which come from the clock and the local time zone", fixed,
		"date_modify", "dateModify", "must_date_modify", "mustDateModify", "toDate", "mustToDate", "unixEpoch")
	because("its result is random", fixed,
		"randAlpha", "randAlphaNum", "randAscii", "randNumeric", "randBytes", "randInt", "shuffle", "uuidv4",
		"bcrypt", "htpasswd", "encryptAES")
	because("it makes or handles key material", "keep keys in a Secret and name the Secret in the values",
		"genPrivateKey", "genCA", "genCAWithKey", "genSelfSignedCert", "genSelfSignedCertWithKey",
		"genSignedCert", "genSignedCertWithKey", "buildCustomCert", "derivePassword", "decryptAES")
	because("it asks the network", fixed, "getHostByName")
	because("it reads the environment of the process", fixed, "env", "expandenv")
	because("it reads the cluster", "use .Values.target, which describes the workload", "lookup")
	because("its result depends on the operating system", "use base, dir, ext, clean or isAbs",
		"osBase", "osDir", "osExt", "osClean", "osIsAbs")
	because("templates hold no functions as values", "use include", "call")
	return refused
}
