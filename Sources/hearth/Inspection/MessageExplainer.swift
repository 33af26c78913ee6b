import HearthHome
import MatterModel
import MatterProtocol

/// Explains whole messages: both headers and the payload. Matter Core § 4.4.
enum MessageExplainer {
  static func explain(_ bytes: [UInt8]) throws(HomeError) -> Explanation {
    let header: MessageHeader
    let end: Int
    do throws(MessageError) {
      (header, end) = try MessageHeader.decode(bytes)
    } catch {
      throw HomeError(.badArguments, "these \(bytes.count) bytes are not a message: \(error)", cause: error)
    }
    var children = [message(header, end)]
    if header.isUnsecured {
      children += try payload(bytes, at: end)
    } else {
      let tag = 16
      let count = bytes.count - end
      guard count >= tag else {
        throw HomeError(.badArguments, "a secured message needs at least \(end + tag) bytes, these are \(bytes.count)")
      }
      children.append(
        Explanation(
          "Encrypted payload", "\(count - tag) bytes and \(tag) bytes of integrity check",
          note: "can't be read without the session's keys"))
    }
    return Explanation("Message", "\(bytes.count) bytes", children: children)
  }

  private static func message(_ header: MessageHeader, _ length: Int) -> Explanation {
    var children = [
      Explanation(
        "Session", "\(header.sessionID)",
        note: header.isUnsecured ? "unsecured" : header.sessionKind == .group ? "group" : "secure unicast"),
      Explanation("Counter", "\(header.counter)"),
    ]
    if let source = header.source { children.append(Explanation("Source", "\(source)")) }
    switch header.destination {
    case .none: break
    case .node(let node): children.append(Explanation("Destination", "node \(node)"))
    case .group(let group): children.append(Explanation("Destination", "group \(group)"))
    }
    if header.hasPrivacy { children.append(Explanation("Privacy", "true", note: "the header itself is obfuscated")) }
    if header.isControl { children.append(Explanation("Control", "true")) }
    return Explanation("Message header", "\(length) bytes", children: children)
  }

  private static func payload(_ bytes: [UInt8], at offset: Int) throws(HomeError) -> [Explanation] {
    let header: PayloadHeader
    let start: Int
    do throws(MessageError) {
      (header, start) = try PayloadHeader.decode(bytes, at: offset)
    } catch {
      throw HomeError(.badArguments, "the message ends inside its payload header: \(error)", cause: error)
    }
    let shape =
      switch header.protocolID {
      case .secureChannel: Shape.secureChannel[header.opcode]
      case .interactionModel: Shape.interaction[header.opcode]
      default: nil as Shape?
      }
    var children = [
      Explanation(
        "Exchange", "\(header.exchange)", note: header.isFromInitiator ? "from its initiator" : "from its responder"),
      Explanation("Protocol", "\(header.protocolID.number)", note: name(of: header.protocolID)),
      Explanation(
        "Opcode", "0x" + header.opcode.hexadecimal(2), note: shape?.name ?? name(ofOpcode: header)),
      Explanation("Requests an acknowledgment", "\(header.needsAck)"),
    ]
    if let counter = header.acknowledged { children.append(Explanation("Acknowledges", "\(counter)")) }
    let headers = Explanation("Payload header", "\(start - offset) bytes", children: children)
    let rest = Array(bytes[start...])
    if header.protocolID == .secureChannel, header.opcode == SecureChannelOpcode.statusReport {
      return [headers, try statusReport(rest)]
    }
    if rest.isEmpty { return [headers] }
    guard shape != nil || header.protocolID == .interactionModel else {
      return [headers, Explanation("Payload", rest.hexadecimal, note: "\(rest.count) bytes")]
    }
    return [headers, try Explanation.tlv(rest, shape: shape, label: shape?.name ?? "Payload")]
  }

  private static func statusReport(_ bytes: [UInt8]) throws(HomeError) -> Explanation {
    guard let report = StatusReport(decoding: bytes) else {
      throw HomeError(.badArguments, "the status report ends too early")
    }
    var children = [
      Explanation("General code", "\(report.general.rawValue)"),
      Explanation("Protocol", "\(report.protocolID.number)", note: name(of: report.protocolID)),
      Explanation("Protocol code", "\(report.code.rawValue)", note: "\(report.code)"),
    ]
    if !report.data.isEmpty { children.append(Explanation("Data", report.data.hexadecimal)) }
    return Explanation("StatusReport", children: children)
  }

  private static func name(of id: ProtocolID) -> String? {
    switch id {
    case .secureChannel: "secure channel"
    case .interactionModel: "Interaction Model"
    case .bulkData: "bulk data exchange"
    case .userDirectedCommissioning: "user-directed commissioning"
    default: nil
    }
  }

  private static func name(ofOpcode header: PayloadHeader) -> String? {
    guard header.protocolID == .secureChannel else { return nil }
    return switch header.opcode {
    case SecureChannelOpcode.counterSyncRequest: "MsgCounterSyncRequest"
    case SecureChannelOpcode.counterSyncResponse: "MsgCounterSyncResponse"
    case SecureChannelOpcode.standaloneAck: "standalone acknowledgment"
    case SecureChannelOpcode.statusReport: "StatusReport"
    default: nil
    }
  }
}
