import MatterCertificates
import MatterCrypto
import MatterModel
import MatterProtocol
import MatterTLV
import VirtualDevices

extension FuzzTarget {
  /// The stateless decoders. Where there is an encoder, decoding and encoding must round-trip.
  static let codecs: [FuzzTarget] = [
    FuzzTarget(name: "tlv", seeds: Samples.tlv, run: tlv),
    FuzzTarget(name: "message", seeds: Samples.messages, run: message),
    FuzzTarget(name: "interaction", seeds: Samples.interactions, run: interaction),
    FuzzTarget(name: "certificate", seeds: Samples.certificates, run: certificate),
    FuzzTarget(name: "declaration", seeds: Samples.declarations, run: declaration),
    FuzzTarget(name: "setup-code", seeds: Samples.setupCodes, run: setupCode),
    FuzzTarget(name: "dns", seeds: Samples.dns, run: dns),
    FuzzTarget(name: "yaml", seeds: Samples.definitions, run: definition),
  ]

  private static func tlv(_ input: [UInt8]) {
    guard let element = try? TLVElement(decoding: input) else { return }
    var writer = TLVWriter()
    element.write(to: &writer)
    let bytes = writer.finish()
    var again = TLVWriter()
    guard let copy = try? TLVElement(decoding: bytes) else { finding("TLV that was written can't be read") }
    copy.write(to: &again)
    // Compared as bytes, because NaN is not equal to itself.
    if again.finish() != bytes { finding("TLV changes when it is written again") }
  }

  private static func message(_ input: [UInt8]) {
    _ = StatusReport(decoding: input)
    _ = CheckInMessage(opening: input, with: Samples.checkInKey)
    guard let (header, end) = try? MessageHeader.decode(input) else { return }
    var bytes: [UInt8] = []
    header.encode(to: &bytes)
    guard let again = try? MessageHeader.decode(bytes).header, again == header else {
      finding("a message header changes when it is written again: \(header)")
    }
    guard let (payload, _) = try? PayloadHeader.decode(input, at: end) else { return }
    bytes = []
    payload.encode(to: &bytes)
    guard let again = try? PayloadHeader.decode(bytes, at: 0).header, again == payload else {
      finding("a payload header changes when it is written again: \(payload)")
    }
  }

  private static func interaction(_ input: [UInt8]) {
    guard let kind = input.first else { return }
    let bytes = Array(input.dropFirst())
    switch kind % 12 {
    case 0: check(StatusResponse.self, bytes)
    case 1: check(ReadRequest.self, bytes)
    case 2: check(SubscribeRequest.self, bytes)
    case 3: check(SubscribeResponse.self, bytes)
    case 4:
      check(ReportData.self, bytes)
      guard let report = try? ReportData(decoding: bytes) else { return }
      var whole = ReassembledReport(maximumSize: 1 << 16)
      for _ in 0..<3 { try? whole.append(report) }
    case 5: check(WriteRequest.self, bytes)
    case 6: check(WriteResponse.self, bytes)
    case 7: check(InvokeRequest.self, bytes)
    case 8: check(InvokeResponse.self, bytes)
    case 9: check(TimedRequest.self, bytes)
    case 10:
      let span = bytes.span.bytes
      guard var reader = try? InvokeRequestReader(span) else { return }
      while let command = try? reader.nextCommand(span) { _ = command.path }
    default:
      guard let chunks = try? ListChunks(bytes) else { return }
      _ = chunks
    }
  }

  private static func check<Message: InteractionMessage>(_: Message.Type, _ bytes: [UInt8]) {
    guard let message = try? Message(decoding: bytes) else { return }
    let written = message.encoded
    guard let again = try? Message(decoding: written) else { finding("\(Message.self) can't be read again") }
    if again.encoded != written { finding("\(Message.self) changes when it is written again") }
  }

  private static func certificate(_ input: [UInt8]) {
    if let certificate = try? MatterCertificate(tlv: input) {
      try? CertificateChain.verifySelfSigned(certificate)
      try? CertificateChain.verify(noc: certificate, icac: certificate, root: certificate, at: 800_000_000)
      _ = certificate.x509
    }
    if let certificate = try? MatterCertificate(x509: input) {
      if (try? MatterCertificate(tlv: certificate.tlv)) == nil { finding("a certificate's TLV can't be read again") }
    }
    _ = try? X509Certificate(der: input)
    _ = try? CertificateSigningRequest(verifying: input)
    _ = try? Fabric(tlv: input)
  }

  private static let signers = (try? TestAttestation.verifier())?.declarationSigners ?? [:]

  private static func declaration(_ input: [UInt8]) {
    _ = try? CertificationDeclaration.verify(cms: input, signers: signers)
    _ = try? CertificationDeclaration(tlv: input)
    _ = try? AttestationElements(tlv: input)
    _ = try? NOCSRElements(tlv: input)
  }

  private static func setupCode(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    _ = try? SetupPayload.parseAll(text, allowingInvalidValues: true)
    guard let payload = try? SetupPayload(parsing: text) else { return }
    if let code = try? payload.manualCode, (try? SetupPayload(parsing: code)) == nil {
      finding("the manual code \(code) can't be read again")
    }
    if let code = try? payload.qrText {
      guard let again = try? SetupPayload(parsing: code), again == payload else {
        finding("the code \(code) does not round-trip")
      }
      _ = try? QRCode(text: code)
    }
  }

  private static let address = SocketAddress(.loopback4, port: 5353)

  private static func dns(_ input: [UInt8]) {
    if let message = try? DNSMessage(input) {
      let bytes = message.encoded()
      if (try? DNSMessage(bytes)) == nil { finding("a DNS message can't be read again") }
    }
    let link = InterfaceID(1)
    var responder = Samples.responder
    var browser = Samples.browser
    for step in 0..<3 {
      let now = Instant(nanoseconds: Int64(10 + step) * 1_000_000_000)
      responder.handle(packet: input, from: address, on: link, at: now)
      browser.handle(packet: input, from: address, on: link, at: now)
      responder.advance(to: now)
      browser.advance(to: now)
      for _ in 0..<256 { guard responder.nextOutput() != nil else { break } }
      for _ in 0..<256 { guard browser.nextOutput() != nil else { break } }
      while responder.nextEvent() != nil {}
      while browser.nextEvent() != nil {}
    }
  }

  private static func definition(_ input: [UInt8]) {
    _ = try? HomeDefinition.load(simulating: [(name: "input.yaml", text: String(decoding: input, as: UTF8.self))])
  }
}
