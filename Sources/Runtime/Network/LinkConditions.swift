internal import MatterProtocol

/// A probability as a ratio of whole numbers, so that a draw is the same on every machine.
public struct Ratio: Hashable, Codable, Sendable {
  /// How many …
  public var numerator: UInt64
  /// … of so many; 0 makes the ratio zero.
  public var denominator: UInt64

  /// - Parameter denominator: 0 makes the ratio zero.
  public init(_ numerator: UInt64, of denominator: UInt64) {
    self.numerator = numerator
    self.denominator = denominator
  }

  /// A share as people write it: 30% or 0.5%. Nil for what is none, or is more than all.
  public init?(percent text: String) {
    guard text.hasSuffix("%"), let percent = Double(text.dropLast()), (0...100).contains(percent) else { return nil }
    self.init(UInt64((percent * 10_000).rounded()), of: 1_000_000)
  }

  /// The share in per cent.
  public var percent: Double { denominator > 0 ? Double(numerator) * 100 / Double(denominator) : 0 }

  public static let never = Ratio(0, of: 1), always = Ratio(1, of: 1)

  /// That one of two things happens, or both, of which neither knows of the other; in millionths.
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

  /// Whether it happens this time. Draws once, unless the answer is known beforehand.
  package func happens(_ random: inout some RandomNumberGenerator) -> Bool {
    guard numerator > 0, denominator > 0 else { return false }
    guard numerator < denominator else { return true }
    return UInt64.random(in: 0..<denominator, using: &random) < numerator
  }
}

/// How a link treats datagrams in one direction.
public struct LinkConditions: Hashable, Codable, Sendable {
  /// The least time that a datagram takes.
  public var latency: Duration
  /// What is added to it at most; drawn for each datagram. Datagrams may overtake each other by it.
  public var jitter: Duration
  /// How many never arrive.
  public var loss: Ratio
  /// How many arrive twice, the second with a jitter of its own.
  public var duplication: Ratio
  /// How many are held back for ``holding``, so that those sent after them come first.
  public var reordering: Ratio
  /// How long the datagrams of ``reordering`` are held back.
  public var holding: Duration = .milliseconds(50)
  /// How many bytes of datagrams it carries in a second, one after the other; 0: as many as there are.
  public var bytesPerSecond = 0
  /// What it carries at most, in bytes of a datagram; 0: what every link carries.
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

  /// Whether nothing gets through that anybody could be followed by: all is lost, or the least that keeps a subscription is too long.
  public var carriesNothing: Bool { !carries(Self.leastDatagramSize) }

  /// Whether datagrams of so many bytes get through, some of them at least.
  public func carries(_ size: Int) -> Bool {
    let isLost = loss.denominator > 0 && loss.numerator >= loss.denominator
    return !isLost && (maximumDatagramSize == 0 || maximumDatagramSize >= size)
  }

  /// What keeps a subscription takes a report without anything in it, 41 bytes, and the answer to that, which is longer: a message
  /// header, a protocol header with an acknowledgement, a status and the tag of the encryption. Matter Core § 4.4, § 4.8, § 10.7.2.
  package static let leastDatagramSize = 8 + 10 + 8 + 16

  /// The conditions of a way that leads over this link and then another one.
  public func followed(by other: LinkConditions) -> LinkConditions {
    func narrower(_ one: Int, _ two: Int) -> Int { one == 0 ? two : two == 0 ? one : min(one, two) }
    var both = LinkConditions(
      latency: latency + other.latency, jitter: jitter + other.jitter, loss: loss.or(other.loss),
      duplication: duplication.or(other.duplication), reordering: reordering.or(other.reordering))
    both.holding = max(holding, other.holding)
    both.bytesPerSecond = narrower(bytesPerSecond, other.bytesPerSecond)
    both.maximumDatagramSize = narrower(maximumDatagramSize, other.maximumDatagramSize)
    return both
  }

  /// Two milliseconds, and nothing goes wrong.
  public static let perfect = LinkConditions()
  /// A home's wireless network on a bad day: 5 to 45 ms, one in twenty lost, one in fifty twice.
  public static let poor = LinkConditions(
    latency: .milliseconds(5), jitter: .milliseconds(40), loss: Ratio(1, of: 20), duplication: Ratio(1, of: 50))
}
