import HearthHome
import MatterModel
import MatterProtocol
import Testing

@testable import hearth

@Suite("Explanations") struct ExplanationTests {
  private func lines(_ hex: String, as format: ExplainedFormat = .automatic) throws -> [String] {
    try Explanation.of(#require([UInt8](hexadecimal: hex)), as: format).lines()
  }

  @Test func explainsPlainTLV() throws {
    #expect(
      try lines("15 24 00 2a 2c 01 02 68 69 36 02 18 18") == [
        "TLV", "  tag 0: 42 (0x2A)", "  tag 1: “hi”", "  tag 2: []",
      ])
  }

  @Test func namesAttributesOfReport() throws {
    let report = ReportData(
      subscriptionID: 7,
      attributeReports: [.data(AttributeData(.init(1, 8, 0), dataVersion: 3, value: [0x04, 102]))])
    let text = try Explanation.of(report.encoded, as: .payload("reportdata")).lines().joined(separator: "\n")
    #expect(text.contains("SubscriptionID: 7"))
    #expect(text.contains("Path  — LevelControl.CurrentLevel"))
    #expect(text.contains("Data: 102 (0x66)"))
    #expect(text.contains("InteractionModelRevision: 12"))
  }

  @Test func namesCommandAndFieldsOfInvoke() throws {
    let fields: [UInt8] = [0x15, 0x24, 0, 128, 0x34, 1, 0x24, 2, 0, 0x24, 3, 0, 0x18]
    let request = InvokeRequest([CommandData(.init(endpoint: 1, cluster: 8, command: 4), fields: fields)])
    let text = try Explanation.of(request.encoded, as: .payload("InvokeRequest")).lines().joined(separator: "\n")
    #expect(text.contains("CommandPath  — LevelControl.MoveToLevelWithOnOff"))
    #expect(text.contains("level: 128"))
  }

  @Test func explainsUnsecuredMessage() throws {
    var message: [UInt8] = []
    MessageHeader(sessionID: 0, counter: 0x1234, source: 0x42).encode(to: &message)
    PayloadHeader(
      isFromInitiator: false, needsAck: true, opcode: SecureChannelOpcode.statusReport, exchange: 9,
      protocolID: .secureChannel, acknowledged: 77
    ).encode(to: &message)
    message += StatusReport(.failure, .noSharedTrustRoots).encoded
    let explanation = try Explanation.of(message)
    let text = explanation.lines().joined(separator: "\n")
    #expect(explanation.label == "Message")
    #expect(text.contains("Session: 0  — unsecured"))
    #expect(text.contains("Source: 0x0000000000000042"))
    #expect(text.contains("Opcode: 0x40  — StatusReport"))
    #expect(text.contains("Acknowledges: 77"))
    #expect(text.contains("Protocol code: 1  — no shared trust roots"))
  }

  @Test func explainsHeaderOfSecuredMessage() throws {
    var message: [UInt8] = []
    MessageHeader(sessionID: 5, counter: 1).encode(to: &message)
    message += [UInt8](repeating: 0xAB, count: 40)
    let text = try Explanation.of(message).lines().joined(separator: "\n")
    #expect(text.contains("Encrypted payload: 24 bytes and 16 bytes of integrity check"))
  }

  @Test(arguments: ["1535012804", "15", "ff00", "00", "0000000001000000"])
  func rejectsInvalidInput(_ hex: String) throws {
    let input = try #require([UInt8](hexadecimal: hex))
    let error = #expect(throws: HomeError.self) { try Explanation.of(input) }
    #expect(error?.code == .badArguments)
  }

  @Test func suggestsNearestOpcode() {
    let error = #expect(throws: HomeError.self) { try Explanation.of([0x15, 0x18], as: .payload("reprtData")) }
    #expect(error?.candidates == ["ReportData"])
  }

  @Test func rejectsTruncatedMessages() throws {
    let report = ReportData(
      subscriptionID: 7,
      attributeReports: [.data(AttributeData(.init(1, 8, 0), dataVersion: 3, value: [0x04, 102]))]
    ).encoded
    for end in report.indices {
      #expect(throws: HomeError.self) { try Explanation.of(Array(report[..<end]), as: .payload("ReportData")) }
    }
  }

  @Test func parsesHexadecimalFormats() {
    #expect([UInt8](hexadecimal: "0x15, 0x18") == [0x15, 0x18])
    #expect([UInt8](hexadecimal: "15:18\n1a") == [0x15, 0x18, 0x1A])
    #expect([UInt8](hexadecimal: "f") == [15])
    #expect([UInt8](hexadecimal: "151") == nil)
    #expect([UInt8](hexadecimal: "lamp") == nil)
    #expect([UInt8](hexadecimal: "") == nil)
  }
}
