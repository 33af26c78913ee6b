// The codes of currencies, which the wire has as numbers.
extension CurrencyStruct {
  /// The numbers of ISO 4217 by their codes, for usual currencies.
  public static let numbers: [String: UInt16] = [
    "AUD": 36, "BRL": 986, "CAD": 124, "CHF": 756, "CLP": 152, "CNY": 156, "CZK": 203, "DKK": 208, "EUR": 978,
    "GBP": 826, "HUF": 348, "IDR": 360, "ILS": 376, "INR": 356, "ISK": 352, "JPY": 392, "KRW": 410, "MXN": 484,
    "NOK": 578, "NZD": 554, "PLN": 985, "RON": 946, "SEK": 752, "SGD": 702, "THB": 764, "TRY": 949, "TWD": 901,
    "UAH": 980, "USD": 840, "ZAR": 710,
  ]

  /// The code of the currency, or its number if the code is unknown.
  public var code: String { Self.numbers.first { $0.value == currency }?.key ?? "currency \(currency)" }

  /// Returns an amount with its decimal places and the currency: “0.24 EUR”.
  public func text(_ amount: Int64) -> String {
    var digits = String(amount.magnitude)
    let places = Int(min(decimalPoints, 18))
    digits = String(repeating: "0", count: max(places + 1 - digits.count, 0)) + digits
    let whole = digits.dropLast(places)
    var fraction = String(digits.suffix(places))
    // Zeros at the end are removed, except in the first two decimal places.
    while fraction.count > 2, fraction.hasSuffix("0") { fraction.removeLast() }
    return (amount < 0 ? "-" : "") + whole + (fraction.isEmpty ? "" : "." + fraction) + " " + code
  }
}

extension CommodityPrice.CommodityPriceStruct {
  /// Returns the price of a kilowatt hour: “0.24 EUR/kWh”; nil without a price or a currency.
  public func text(in currency: CurrencyStruct?) -> String? {
    price.flatMap { price in currency.map { $0.text(price) + "/kWh" } }
  }
}
