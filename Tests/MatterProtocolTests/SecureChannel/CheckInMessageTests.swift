import MatterCrypto
import MatterModel
import Testing

@testable import MatterProtocol

/// The Check-In message, with the vectors that the Matter SDK publishes.
@Suite struct CheckInMessageTests {
  struct Vector: Sendable {
    let key: String
    let counter: UInt32
    let data: String
    let payload: String
  }

  static let vectors = [
    Vector(
      key: "d90e13180d00baadd20cf5ed4913d3ff", counter: 12,
      data: "",
      payload: "4580d2c6f1310dc4eb64f1f8e8bdc21fb5195d747dd2879b2b0d43ce5b1c5650"
        + "78"),
    Vector(
      key: "18fdbceaef01955b0ec875eda3ae6ee8", counter: 15,
      data: "54686973",
      payload: "9b02ed21ee0c7b491985502e372dbd7b3f8b4f8e3c5ad99419389f41a8d60993"
        + "8c67a86d65"),
    Vector(
      key: "d90e13180d00baadd20cf5ed4913d3ff", counter: 11,
      data: "546869732069732061",
      payload: "aa84bc60886a63a8475d5dbeb56d635fa95285ae33626613c7636ce3e3b2a8b1"
        + "3a8c89bef76891e8e296"),
    Vector(
      key: "ca67d41ff7112910fdd18a1bf99ea974", counter: 11,
      data: "546869732069732061206c6f6e676572",
      payload: "7a9772243c97c87d5f3a31c4e6dbbc1aa566c443c20586066b427bfcaaad78da"
        + "4a105a1342adbf3f4798cd81b9ef97bbb7"),
    Vector(
      key: "ca67d41ff7112910fdd18a1bf99ea974", counter: 12,
      data: "546869732069732061206c6f6e67657220737472696e67",
      payload: "0634676ea6e0707b7ad7814ff82e5b18d19a23b2e4fadf829253517ff3c91d8d"
        + "4784315a1e3208b8ecf6118b021a5a4cd4e9d4138dff2971"),
  ]

  private static func bytes(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  @Test(arguments: vectors) func matchesVector(_ vector: Vector) throws {
    let (key, payload) = (Self.bytes(vector.key), Self.bytes(vector.payload))
    let message = CheckInMessage(counter: vector.counter, applicationData: Self.bytes(vector.data))
    #expect(try message.sealed(with: key) == payload)
    #expect(CheckInMessage(opening: payload, with: key) == message)
  }

  /// The message is encrypted with the key, but its nonce belongs to another counter.
  @Test func rejectsNonceOfOtherCounter() {
    let payload = Self.bytes(
      "0634676ea6e0707b7ad7814ff8295b18d19a23b2e4fadf829253517ff3c91d8d"
        + "47842e41023c03ad66ac4dca7247e0e4c66bd9d39913e23d8232b961fa9226")
    #expect(CheckInMessage(opening: payload, with: Self.bytes("ca67d41ff7112910fdd18a1bf99ea974")) == nil)
  }

  @Test func rejectsChangedAndShortMessages() throws {
    let key = [UInt8](1...16)
    let payload = try CheckInMessage(counter: 7, activeThreshold: .seconds(5)).sealed(with: key)
    #expect(CheckInMessage(opening: payload, with: key)?.activeThreshold == .seconds(5))
    #expect(CheckInMessage(opening: payload, with: [UInt8](2...17)) == nil)
    for index in payload.indices {
      var changed = payload
      changed[index] ^= 1
      #expect(CheckInMessage(opening: changed, with: key) == nil, "byte \(index)")
      #expect(CheckInMessage(opening: Array(payload[..<index]), with: key) == nil, "\(index) bytes")
    }
    #expect(CheckInMessage(opening: payload, with: [1, 2]) == nil)
    #expect(throws: CryptoError.self) { try CheckInMessage(counter: 1).sealed(with: []) }
  }

  /// The message reaches the owner of the other core without a session, and nothing is sent in return.
  @Test func passesThroughCores() throws {
    var sender = NodeCore(random: SeededRandomSource(seed: 1))
    var receiver = NodeCore(random: SeededRandomSource(seed: 2))
    let address = SocketAddress(.loopback6, port: 1)
    sender.sendCheckIn([1, 2, 3], to: address, at: .zero)
    guard case .send(let bytes, to: address)? = sender.nextOutput() else {
      Issue.record("nothing was sent")
      return
    }
    #expect(sender.nextDeadline == nil && !sender.hasExchanges)
    receiver.receive(bytes, from: address, at: .zero)
    guard case .checkIn([1, 2, 3], from: address)? = receiver.nextOutput() else {
      Issue.record("nothing was received")
      return
    }
    #expect(receiver.nextOutput() == nil && receiver.nextDeadline == nil)
  }
}
