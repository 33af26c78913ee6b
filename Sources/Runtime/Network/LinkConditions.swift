internal import MatterProtocol

/// A probability as a ratio of integers, so that a draw is the same on every machine.
public struct Ratio: Hashable, Codable, Sendable {
  /// The number of favorable outcomes.
  public var numerator: UInt64
  /// The number of all outcomes; 0 makes the ratio zero.
  public var denominator: UInt64

  /// - Parameter denominator: 0 makes the ratio zero.
  public init(_ numerator: UInt64, of denominator: UInt64) {
    self.numerator = numerator
    self.denominator = denominator
  }

  /// Parses a percentage such as 30% or 0.5%. Returns nil unless it is between 0% and 100%.
  public init?(percent text: String) {
    guard text.hasSuffix("%"), let percent = Double(text.dropLast()), (0...100).contains(percent) else { return nil }
    self.init(UInt64((percent * 10_000).rounded()), of: 1_000_000)
  }

  /// The ratio in percent.
  public var percent: Double { denominator > 0 ? Double(numerator) * 100 / Double(denominator) : 0 }

  public static let never = Ratio(0, of: 1), always = Ratio(1, of: 1)

  /// Returns the probability that at least one of two independent events happens, in millionths.
  func or(_ other: Ratio) -> Ratio {
    let million: UInt64 = 1_000_000
    func rest(_ ratio: Ratio) -> UInt64 {
      guard ratio.denominator > 0 else { return million }
      let happens = ratio.numerator.multipliedFullWidth(by: million)
      guard happens.high < ratio.denominator else { return 0 }
      return million - min(million, ratio.denominator.dividingFullWidth(happens).quotient)
    }
    return Ratio(million - rest(self) * rest(other) / million, of: million)
  }

  /// Draws whether the event happens. Uses the random source unless the outcome is certain.
  package func happens(_ random: inout some RandomNumberGenerator) -> Bool {
    guard numerator > 0, denominator > 0 else { return false }
    guard numerator < denominator else { return true }
    return UInt64.random(in: 0..<denominator, using: &random) < numerator
  }
}

/// The conditions of a link in one direction.
public struct LinkConditions: Hashable, Codable, Sendable {
  /// The minimum transmission time of a datagram.
  public var latency: Duration
  /// The maximum additional delay, drawn for each datagram, so that datagrams may overtake each other.
  public var jitter: Duration
  /// The probability of loss.
  public var loss: Ratio
  /// The probability of duplication; the second copy has its own jitter.
  public var duplication: Ratio
  /// The probability that a datagram is delayed by ``holding``, so that later ones overtake it.
  public var reordering: Ratio
  /// The delay of reordered datagrams.
  public var holding: Duration = .milliseconds(50)
  /// The bandwidth in bytes per second; 0 for unlimited.
  public var bytesPerSecond = 0
  /// The maximum size of a datagram in bytes; 0 for no limit beyond that of every link.
  public var maximumDatagramSize = 0

  public init(
    latency: Duration = .milliseconds(2), jitter: Duration = .zero, loss: Ratio = .never, duplication: Ratio = .never,
    reordering: Ratio = .never
  ) {
    self.reordering = reordering
    self.latency = latency
    self.jitter = jitter
    self.loss = loss
    self.duplication = duplication
  }

  /// Whether no subscription can be kept: all datagrams are lost, or the smallest that keeps one exceeds the maximum
  /// size.
  public var carriesNothing: Bool { !carries(Self.leastDatagramSize) }

  /// Returns whether datagrams of this size can get through.
  public func carries(_ size: Int) -> Bool {
    let isLost = loss.denominator > 0 && loss.numerator >= loss.denominator
    return !isLost && (maximumDatagramSize == 0 || maximumDatagramSize >= size)
  }

  /// The size of the smallest exchange that keeps a subscription: an empty report, 41 bytes, and the longer response to
  /// it, with a message header, a protocol header with an acknowledgment, a status and the tag of the encryption.
  /// Matter Core § 4.4, § 4.8, § 10.7.2.
  package static let leastDatagramSize = 8 + 10 + 8 + 16

  /// Returns the conditions of a path over this link and then another one.
  public func chained(with other: LinkConditions) -> LinkConditions {
    func narrower(_ one: Int, _ two: Int) -> Int { one == 0 ? two : two == 0 ? one : min(one, two) }
    var both = LinkConditions(
      latency: latency + other.latency, jitter: jitter + other.jitter, loss: loss.or(other.loss),
      duplication: duplication.or(other.duplication), reordering: reordering.or(other.reordering))
    both.holding = max(holding, other.holding)
    both.bytesPerSecond = narrower(bytesPerSecond, other.bytesPerSecond)
    both.maximumDatagramSize = narrower(maximumDatagramSize, other.maximumDatagramSize)
    return both
  }

  /// 2 ms latency and no faults.
  public static let perfect = LinkConditions()
  /// A poor wireless network: 5 to 45 ms, 5% loss, 2% duplication.
  public static let poor = LinkConditions(
    latency: .milliseconds(5), jitter: .milliseconds(40), loss: Ratio(1, of: 20), duplication: Ratio(1, of: 50))
}
