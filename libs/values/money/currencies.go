package money

import "strings"

// digits maps ISO 4217 currency codes to their number of decimals. It contains list one of ISO 4217, with the
// fund codes. It omits codes without a minor unit (metals, SDR, test codes), because prices cannot use them.
//
// The CLDR data in golang.org/x/text is not used, because it follows the rounding in
// shops instead of ISO 4217. In CLDR, RSD, COP and PKR have no decimals, and IQD has
// none instead of three. Currencies that were introduced since 2022 are missing.
var digits = byCode(map[int]string{
	0: `BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF`,
	2: `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW
		CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF
		IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK
		MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP
		SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG
		YER ZAR ZMW ZWG`,
	3: `BHD IQD JOD KWD LYD OMR TND`,
	4: `CLF UYW`,
})

func byCode(codes map[int]string) map[string]int {
	m := make(map[string]int)
	for n, list := range codes {
		for code := range strings.FieldsSeq(list) {
			m[code] = n
		}
	}
	return m
}
