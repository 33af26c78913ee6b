import MatterCertificates
import MatterModel
import Testing

@testable import MatterProtocol

/// NotBefore and NotAfter in CASE. Matter Core § 6.5.7, § 3.5.6.
@Suite struct CertificateValidityTests {
  /// A time in 2026, in seconds since 2000-01-01 00:00 UTC.
  private static let now: UInt32 = 835_000_000
  private static let cases: [(name: String, validity: CertificateValidity, isValid: Bool)] = [
    ("valid", CertificateValidity(notBefore: .seconds(now - 10), notAfter: .seconds(now + 10)), true),
    ("without an end", CertificateValidity(notBefore: .seconds(1)), true),
    ("expired", CertificateValidity(notBefore: .seconds(now - 10), notAfter: .seconds(now - 1)), false),
    ("not yet valid", CertificateValidity(notBefore: .seconds(now + 10), notAfter: .seconds(now + 20)), false),
  ]

  /// - Parameters:
  ///   - node: The owner of the certificate: 1 is the initiator, 2 the responder.
  ///   - clock: The trusted time of both sides.
  private func connect(_ validity: CertificateValidity, of node: UInt64, clock: Int64?) throws -> CorePair {
    let other = CertificateValidity(notBefore: .seconds(1))
    let fabrics = try TestFabrics.make(validity: { $0 == node ? validity : other })
    var pair = CorePair(fabrics: fabrics.map { [$0] })
    for index in 0...1 { pair.cores[index].trustedEpoch = clock }
    pair.beginCASE()
    try pair.settle()
    return pair
  }

  @Test(arguments: 0..<4, [UInt64(1), 2])
  func checksValidityByTrustedClock(index: Int, node: UInt64) throws {
    let (name, validity, isValid) = Self.cases[index]
    let pair = try connect(validity, of: node, clock: Int64(Self.now))
    #expect(pair.established(0).count == (isValid ? 1 : 0), "\(name), of node \(node)")
    #expect(pair.established(1).count == (isValid ? 1 : 0), "\(name), of node \(node)")
    #expect(pair.handshakeErrors(0).count == (isValid ? 0 : 1))
  }

  @Test(arguments: 0..<4, [UInt64(1), 2])
  func acceptsAnyValidityWithoutTrustedClock(index: Int, node: UInt64) throws {
    let pair = try connect(Self.cases[index].validity, of: node, clock: nil)
    #expect(pair.established(0).count == 1 && pair.established(1).count == 1)
  }

  @Test(arguments: [Int64.max, .min, -1, 0])
  func toleratesExtremeClockValues(clock: Int64) throws {
    let pair = try connect(CertificateValidity(notBefore: .seconds(1)), of: 2, clock: clock)
    #expect(pair.established(0).count == (clock > 0 ? 1 : 0))
  }
}
