/// A DNS message. RFC 1035 § 4.1, RFC 6762 § 18.
public struct DNSMessage: Hashable, Sendable {
  /// The message id: 0 in multicast messages; a unicast response repeats the id of its query.
  public var id: UInt16
  /// The flag word of the header: QR, opcode, AA, TC, RD, RA, Z, rcode, most significant bit first.
  public var flags: UInt16
  public var questions: [DNSQuestion]
  /// The answers; in a query, the known answers.
  public var answers: [DNSRecord]
  /// The authority records; in a probe, the records that the sender intends to announce.
  public var authorities: [DNSRecord]
  /// Additional records, which the receiver will probably need next.
  public var additionals: [DNSRecord]

  /// The maximum size of a message, in bytes. RFC 6762 § 17.
  public static let maximumSize = 9000

  static let responseFlag: UInt16 = 0x8000
  static let authoritativeFlag: UInt16 = 0x0400
  static let truncatedFlag: UInt16 = 0x0200

  public init(
    id: UInt16 = 0, flags: UInt16 = 0, questions: [DNSQuestion] = [], answers: [DNSRecord] = [],
    authorities: [DNSRecord] = [], additionals: [DNSRecord] = []
  ) {
    self.id = id
    self.flags = flags
    self.questions = questions
    self.answers = answers
    self.authorities = authorities
    self.additionals = additionals
  }

  /// Whether this is a response (QR).
  var isResponse: Bool { flags & Self.responseFlag != 0 }
  /// Returns whether an encoded message is a response.
  public static func isResponse(_ bytes: [UInt8]) -> Bool { bytes.count > 2 && bytes[2] & 0x80 != 0 }
  /// Whether more known answers follow in other packets (TC in a query). RFC 6762 § 7.2.
  public var isTruncated: Bool { flags & Self.truncatedFlag != 0 }
  /// Whether opcode and response code are both 0; receivers ignore other messages. RFC 6762 § 18.3, § 18.11.
  var isOrdinary: Bool { flags & 0x780F == 0 }

  /// Decodes a message, ignoring any bytes after the last record.
  public init(_ bytes: [UInt8]) throws(DNSError) {
    guard bytes.count <= Self.maximumSize else { throw .tooLong }
    var reader = DNSReader(bytes)
    id = try reader.uint16()
    flags = try reader.uint16()
    let counts = (try reader.uint16(), try reader.uint16(), try reader.uint16(), try reader.uint16())
    // The counts are untrusted, so no capacity is reserved for them.
    questions = []
    for _ in 0..<counts.0 { questions.append(try reader.question()) }
    answers = try reader.records(counts.1)
    authorities = try reader.records(counts.2)
    additionals = try reader.records(counts.3)
  }

  /// Encodes the message with compressed names. Questions and records that do not fit in `limit` bytes are omitted.
  /// - Parameter compressingTargets: Whether names in SRV data may also be compressed, which only multicast DNS allows
  ///   (RFC 6762 § 18.14).
  public func encoded(limit: Int = DNSMessage.maximumSize, compressingTargets: Bool = true) -> [UInt8] {
    var writer = DNSWriter(limit: min(limit, Self.maximumSize), compressingTargets: compressingTargets)
    var counts: [UInt16] = [0, 0, 0, 0]
    for question in questions where writer.append(question) { counts[0] += 1 }
    for record in answers where writer.append(record) { counts[1] += 1 }
    for record in authorities where writer.append(record) { counts[2] += 1 }
    for record in additionals where writer.append(record) { counts[3] += 1 }
    return writer.finish(id: id, flags: flags, counts: counts)
  }
}
