public import MatterModel

/// A position in the change log of a home, behind the changes that were read. See the article
/// “The home model”, “Observer queries”.
///
/// Opaque: it can be stored, printed and parsed, and is valid only for the log that issued it.
public struct Anchor: Hashable, Sendable, TextCodable {
  /// The id of the log, drawn when the database is created.
  package var log: UInt32
  /// The sequence number of the last change before the position; 0: the beginning.
  package var sequence: Int64
  /// The generation of that change, drawn when the database was opened: after a power failure, or in a log that was
  /// restored from a copy, sequence numbers are assigned again. Nil at the beginning.
  package var generation: UInt32?

  package init(log: UInt32, sequence: Int64, generation: UInt32? = nil) {
    (self.log, self.sequence, self.generation) = (log, sequence, generation)
  }

  /// Parses the format of ``description``.
  public init?(_ description: String) {
    let parts = description.split(separator: "-", omittingEmptySubsequences: false)
    guard [2, 3].contains(parts.count), parts[0].first == "h", let log = UInt32(parts[0].dropFirst(), radix: 16),
      let sequence = Int64(parts[1]), sequence >= 0
    else { return nil }
    self.init(log: log, sequence: sequence)
    guard parts.count == 3 else { return }
    guard let generation = UInt32(parts[2], radix: 16) else { return nil }
    self.generation = generation
  }

  /// `h1f03a9c2-4711-5d20`.
  public var description: String {
    "h\(String(log, radix: 16))-\(sequence)" + (generation.map { "-" + String($0, radix: 16) } ?? "")
  }

  /// Returns an anchor beyond the end of this anchor's log, which causes a reset; nil if the other anchor is of the same log.
  package func beyondTheEnd(notOf other: Anchor) -> Anchor? {
    log == other.log ? nil : Anchor(log: log, sequence: .max)
  }
}
