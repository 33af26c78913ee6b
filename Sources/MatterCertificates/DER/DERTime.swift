/// Times in certificates, in seconds since 2000-01-01 00:00:00 UTC, the Matter epoch. Core § 6.5.7.
enum DERTime {
  /// The time that RFC 5280 § 4.1.2.5 defines for a certificate without expiry: 9999-12-31 23:59:59.
  static let noExpiry: Int64 = secondsSinceEpoch(year: 9999, month: 12, day: 31) + 86_399
  /// UTCTime is used up to 2049, GeneralizedTime from 2050 on.
  private static let firstGeneralized: Int64 = secondsSinceEpoch(year: 2050, month: 1, day: 1)

  /// Days from 1970-01-01 in the proleptic Gregorian calendar, shifted to 2000. Counts in eras of 400 years from March.
  private static func secondsSinceEpoch(year: Int, month: Int, day: Int) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return Int64(era * 146_097 + dayOfEra - 719_468 - 10_957) * 86_400
  }

  private static func date(ofDay daysSinceEpoch: Int64) -> (year: Int, month: Int, day: Int) {
    let days = Int(daysSinceEpoch) + 10_957 + 719_468
    let era = (days >= 0 ? days : days - 146_096) / 146_097
    let dayOfEra = days - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  /// Writes UTCTime up to 2049 and GeneralizedTime after. `seconds` must be in the years 1950 to 9999.
  static func write(_ seconds: Int64, to writer: inout DERWriter) {
    let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    let (year, month, day) = date(ofDay: days)
    let second = Int(seconds - days * 86_400)
    var digits: [UInt8] = []
    func append(_ number: Int) { digits += [UInt8(0x30 + number / 10 % 10), UInt8(0x30 + number % 10)] }
    if seconds >= firstGeneralized { append(year / 100) }
    for part in [year % 100, month, day, second / 3600, second / 60 % 60, second % 60] { append(part) }
    digits.append(UInt8(ascii: "Z"))
    writer.write(seconds >= firstGeneralized ? DERTag.generalizedTime : DERTag.utcTime, digits)
  }

  /// Reads a UTCTime or GeneralizedTime with seconds, in UTC.
  static func read(from reader: inout DERReader) throws(CertificateError) -> Int64 {
    let element = try reader.next()
    let isLong = element.tag == DERTag.generalizedTime
    guard isLong || element.tag == DERTag.utcTime else { throw .malformed("DER: time") }
    guard element.content.count == (isLong ? 15 : 13), element.content.last == UInt8(ascii: "Z"),
      element.content.dropLast().allSatisfy({ 0x30...0x39 ~= $0 })
    else { throw .malformed("DER: time") }
    let digits = element.content.dropLast().map { Int($0) - 0x30 }
    var parts = stride(from: 0, to: digits.count, by: 2).map { digits[$0] * 10 + digits[$0 + 1] }
    var year = parts.removeFirst()
    if isLong {
      year = year * 100 + parts.removeFirst()
      guard year >= 1950 else { throw .malformed("DER: year") }
    } else {
      year += year < 50 ? 2000 : 1900
    }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    guard 1...12 ~= parts[0] else { throw .malformed("DER: month") }
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][parts[0] - 1]
    guard 1...days ~= parts[1], parts[2] < 24, parts[3] < 60, parts[4] < 60 else { throw .malformed("DER: time") }
    let seconds =
      secondsSinceEpoch(year: year, month: parts[0], day: parts[1])
      + Int64(parts[2] * 3600 + parts[3] * 60 + parts[4])
    // Each time has only one form, so that conversion is lossless.
    guard isLong == (seconds >= firstGeneralized) else { throw .malformed("DER: form of time") }
    return seconds
  }
}
